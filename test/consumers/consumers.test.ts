import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
/** Outside the project: the package is found as one that is installed. */
const folder = mkdtempSync(join(tmpdir(), "factorloom-consumers-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What projects install beside the package. */
const INSTALLED = ["apache-arrow", "@types/node"];

/** A history and a session, with an operator of its own. */
const PROGRAM = `
const bars = await panelFrom([
  { date: "2024-01-02", symbol: "A", close: 10 },
  { date: "2024-01-02", symbol: "B", close: 20 },
  { date: "2024-01-03", symbol: "A", close: 11 },
]);
const spread = defineOperator({
  name: "ts_spread", axis: "rolling", result: "series", unit: "same", source: "here", costNs: (rows) => 20 + rows,
  parameters: [{ name: "x", kind: "series" }, { name: "d", kind: "window" }],
  summary: "Largest minus smallest value.", nulls: "Null while a value of the window is null.", nullWhere: {},
  windowRows: ({ d }) => d,
  reference: ([x]) => Math.max(...x) - Math.min(...x),
  lower: (on, [x], { d }) => on.sub(rolling.largest(on, x, d), rolling.smallest(on, x, d)),
  examples: [{ formula: "ts_spread(x, 2)", inputs: { x: [1, 3] }, output: [null, 2] }],
});
const program = compile("ranked = rank(close)\\nwide = ts_spread(close, 2)", { operators: [spread] });
const engine = await Engine.start({ threads: 1 });
const { table } = await engine.evaluate(program, bars);
console.log(JSON.stringify([[...table.getChild("ranked")!], [...table.getChild("wide")!]]));
const session = await engine.openSession(program, { warmup: bars });
const row = await session.push({ time: 19726, fields: { close: [14, 21] } });
console.log(JSON.stringify([[...row.table.getChild("wide")!], row.tags]));
await session.close();
await engine.close();
`;

const IMPORTS = `import { compile, defineOperator, Engine, panelFrom } from "factorloom";
import { rolling } from "factorloom/kernel";
`;

const PRINTED = '[[0.5,1,1],[null,null,1]]\n[[3,null],{"ranked":"on_time","wide":"on_time"}]';

beforeAll(() => {
  for (const name of [...INSTALLED, "factorloom"]) {
    const path = join(folder, "node_modules", name);
    mkdirSync(join(path, ".."), { recursive: true });
    symlinkSync(name === "factorloom" ? root : join(root, "node_modules", name), path);
  }
});

interface Project {
  readonly files: Readonly<Record<string, string>>;
  /** Of TypeScript; null for a project without types. */
  readonly compilerOptions: Readonly<Record<string, unknown>> | null;
}

/** Writes a project and compiles it. */
function project(name: string, { files, compilerOptions }: Project): string {
  const path = join(folder, name);
  mkdirSync(path);
  writeFileSync(join(path, "package.json"), JSON.stringify({ name, type: "module" }));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  if (compilerOptions === null) return path;
  const options = { target: "esnext", strict: true, types: ["node"], outDir: "out", ...compilerOptions };
  writeFileSync(join(path, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", path], { encoding: "utf8" });
  expect(stdout).toBe("");
  return path;
}

function run(path: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, [path], { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.trim();
}

test("a project of TypeScript for Node (nodenext) compiles and runs", () => {
  const files = { "main.ts": IMPORTS + PROGRAM };
  const path = project("nodenext", { files, compilerOptions: { module: "nodenext" } });
  expect(run(join(path, "out/main.js"))).toBe(PRINTED);
});

test("a project for a bundler (moduleResolution bundler) has the right types", () => {
  const files = { "main.ts": IMPORTS + PROGRAM };
  const resolution = { module: "esnext", moduleResolution: "bundler" };
  project("bundler", { files, compilerOptions: { ...resolution, noEmit: true, skipLibCheck: true } });
});

test("a bundle that leaves the package outside runs", async () => {
  const files = {
    "main.ts": `${IMPORTS}import { help } from "./help.ts";\n${PROGRAM}\nconsole.log(help);\n`,
    "help.ts": 'export const help: string = "bundled";\n',
  };
  const path = project("bundle", { files, compilerOptions: null });
  const bundle = await rolldown({ input: join(path, "main.ts"), platform: "node", external: /^factorloom/ });
  await bundle.write({ file: join(path, "bundle.mjs") });
  rmSync(join(path, "help.ts"));
  expect(run(join(path, "bundle.mjs"))).toBe(`${PRINTED}\nbundled`);
});

test("a project of CommonJS requires the package; its tables of Arrow are of another copy", () => {
  const requires = `const { compile, defineOperator, Engine, panelFrom } = require("factorloom");
const { rolling } = require("factorloom/kernel");
const { tableFromArrays } = require("apache-arrow");
`;
  const own =
    'const table = tableFromArrays({ date: ["2024-01-02"], symbol: ["A"], close: [1] });\nconsole.log((await panelFrom(table)).rowCount);\n';
  const body = `${PROGRAM.replaceAll(")!]", ")]")}\n`;
  const text = `${requires}(async () => {${body}})().then(async () => {${own}});\n`;
  const path = project("commonjs", { files: { "main.cjs": text }, compilerOptions: null });
  expect(run(join(path, "main.cjs"))).toBe(`${PRINTED}\n1`);
});
