import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as library from "../../src/index.ts";
import * as kernel from "../../src/kernel_builders.ts";
import { runSql } from "../data/scratch.ts";

const root = join(import.meta.dirname, "../..");
// Inside the project, because snippets import the package by its name.
mkdirSync(join(root, "results"), { recursive: true });
const folder = mkdtempSync(join(root, "results/snippets-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Code as it stands in a comment or on a page. */
interface Snippet {
  /** The file and the line. */
  readonly place: string;
  readonly file: string;
  readonly code: string;
}

/** Snippets that are type-checked and not run, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "docs/cluster.md": "needs a Dask cluster",
  "src/cluster/client/cluster.ts": "needs a Dask cluster",
};

/** What snippets that are no whole program stand among. */
const PRELUDE = `
const engine = await Engine.start({ threads: 1 });
const text = "param session = \\"open\\"\\nparam lambda = 0.9\\na = ts_mean(close, 2) * lambda";
const program = compile(text);
const panel = await readPanel("bars.csv");
const source = panelSource(panel);
const writer = await openResultWriter("written.csv");
const session = await engine.openSession(program, { symbols: ["A", "B"] });
const closes = [1, 2];
const calls = [{ params: { lambda: 0.5 } }];
let files = 0;
const nextPath = () => \`table\${files++}.csv\`;
const use = (block: PanelBlock) => block.rowCount;
`;

const FILES: Readonly<Record<string, string>> = {
  "bars.csv":
    "date,symbol,open,high,low,close\n2024-01-02,A,1,2,1,2\n2024-01-02,B,3,4,3,4\n2024-01-03,A,2,3,2,3\n",
  "sectors.csv": "symbol,sector\nA,tech\nB,energy\n",
};

const snippets = [...pageSnippets(), ...commentSnippets()];
const whole = snippets.filter(({ code, file }) => isWhole(code) && NOT_RUN[file] === undefined);
const parts = snippets.filter((snippet) => !whole.includes(snippet));

function isWhole(code: string): boolean {
  return /^import .* from "factorloom"/m.test(code);
}

function pageSnippets(): Snippet[] {
  const pages = ["", "docs", "examples", "examples/service", "examples/data"].flatMap((path) =>
    readdirSync(join(root, path))
      .filter((file) => file.endsWith(".md") && file !== "errors.md")
      .map((file) => join(path, file)),
  );
  return pages.flatMap((file) => {
    const page = readFileSync(join(root, file), "utf8");
    return [...page.matchAll(/^```ts.*\n([\s\S]*?)^```/gm)].map(({ index, 1: code }) =>
      snippet(file, page, index, code!),
    );
  });
}

function commentSnippets(): Snippet[] {
  const files = ["src", "grammar", "operators"].flatMap((path) =>
    readdirSync(join(root, path), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => join(path, file)),
  );
  return files.flatMap((file) => {
    const source = readFileSync(join(root, file), "utf8");
    return [...source.matchAll(/^ *\* @example\s([\s\S]*?)(?=^ *\* @|^ *\*\/)/gm)].map(({ index, 1: text }) =>
      snippet(file, source, index, text!.replaceAll(/^ *\* ?/gm, "")),
    );
  });
}

function snippet(file: string, text: string, index: number, code: string): Snippet {
  return { place: `${file}:${text.slice(0, index).split("\n").length}`, file, code };
}

/** What a snippet of a comment names of its own file and is not public. */
function ownImports({ file, code }: Snippet): string[] {
  if (!file.endsWith(".ts")) return [];
  const exported = readFileSync(join(root, file), "utf8").matchAll(
    /^export (?:async )?(?:function|const|class) (\w+)/gm,
  );
  return [...exported]
    .map(([, name]) => name!)
    .filter((name) => !(name in library) && !(name in kernel) && new RegExp(`\\b${name}\\b`).test(code))
    .map((name) => `import { ${name} } from "${relative(folder, join(root, file))}";`);
}

/** A line whose comment says what it gives must give it. */
function checked(line: string): string {
  const [, expression, value] =
    /^(?!const |for |await using )(\S.*?);? \/\/ (-?\d+n?|"[^…]*"|\[.*\])$/.exec(line) ?? [];
  return expression ? `deepEqual(${expression}, ${value});` : line;
}

/** All parts in one program, each in a scope of its own. */
function programOfParts(run: readonly Snippet[]): string {
  const bodies = run.map(({ place, code }) => {
    const lines = code.split("\n").filter((line) => !line.startsWith("import "));
    return `progress = "${place}";\n{\n${lines.map(checked).join("\n")}\n}`;
  });
  return [
    'import { deepStrictEqual as deepEqual } from "node:assert";',
    `import { ${Object.keys(library).join(", ")}, type PanelBlock } from "factorloom";`,
    `import { ${Object.keys(kernel).join(", ")}, type Series, type Value, type WindowState } from "factorloom/kernel";`,
    'import { DIALECTS } from "../../grammar/dialects.ts";',
    'import { Source } from "../../src/text/source.ts";',
    ...new Set(run.flatMap(ownImports)),
    PRELUDE,
    'let progress = "";',
    'process.on("exit", (code) => code !== 0 && console.error(progress));',
    ...bodies,
    "await engine.close();",
    `console.log("${run.length} snippets");`,
  ].join("\n");
}

beforeAll(async () => {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  for (const name of ["bars", "minutes"])
    await runSql(`COPY (FROM '${folder}/bars.csv') TO '${folder}/${name}.parquet'`);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../../tsconfig.json",
      compilerOptions: { noUnusedLocals: false, noEmit: true, rootDir: "../.." },
      include: ["*.ts", "../../src/kernel/emit/webassembly.d.ts"],
    }),
  );
  const run = parts.filter(({ file }) => NOT_RUN[file] === undefined);
  writeFileSync(join(folder, "run.ts"), programOfParts(run));
  writeFileSync(join(folder, "not_run.ts"), programOfParts(parts.filter((part) => !run.includes(part))));
  for (const [index, { code }] of whole.entries()) writeFileSync(join(folder, `whole${index}.ts`), code);
});

test("every snippet of the pages and comments has the right types", () => {
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
  expect(stdout).toBe("");
});

test("every snippet that is part of a program runs, and gives what its comment says", () => {
  const { stdout, stderr } = spawnSync("node", ["run.ts"], { cwd: folder, encoding: "utf8" });
  expect(stderr).toBe("");
  expect(stdout.trim().split("\n").at(-1)).toMatch(/^\d\d snippets$/);
});

test("whole programs are those that docs.test.ts runs, and what is not run is there", () => {
  expect(whole.map(({ file }) => file)).toEqual([
    "README.md",
    "docs/api.md",
    "docs/live.md",
    "docs/many_calls.md",
    "docs/user_operators.md",
  ]);
  const files = new Set(parts.map(({ file }) => file));
  expect(Object.keys(NOT_RUN).filter((file) => !files.has(file))).toEqual([]);
});
