import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { Xoshiro128 } from "../../src/bench/random.ts";
import { applied, type Mutant, mutantsOf } from "./mutants.ts";

/**
 * Changes a room in one small place after the other, each time as the only one, and runs the tests of the room: a mutant that
 * survives shows what no test looks at. It may also change no behaviour at all; that is for the reader to see.
 *
 * npm run test:mutation ROOM [-- --count N --seed N --tests FILTER]
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    tests: { type: "string", multiple: true },
  },
});
const [room = ""] = positionals;
const root = join(import.meta.dirname, "../..");
const tracked = lines(spawnSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).stdout);
const sources = tracked.filter((file) => isOfRoom(file) && file.endsWith(".ts"));
if (room === "" || sources.length === 0) {
  process.stderr.write(
    "usage: npm run test:mutation ROOM [-- --count N --seed N --tests FILTER], e.g. plan, cli, grammar\n",
  );
  process.exit(2);
}

/** Far above what the tests of any room need; a mutant that runs for ever is a dead one. */
const RUN_MS_MAX = 10 * 60_000;

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** `plan`, `data/formats`, `src/engine.ts` or `operators/rolling`. */
function isOfRoom(file: string): boolean {
  return [room, `src/${room}`, `src/${room}.ts`].some((path) => file === path || file.startsWith(`${path}/`));
}

/** Some of a list, drawn without putting back. */
function drawn<T>(items: readonly T[], count: number, seed: number): T[] {
  const numbers = Xoshiro128.seeded(BigInt(seed));
  const left = [...items];
  const size = Math.min(count, left.length);
  return Array.from({ length: size }, () => left.splice(Math.floor(numbers.uniform() * left.length), 1)[0]!);
}

/** A copy of the checkout in which sources may be changed. */
function copyOfCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), "factorloom-mutants-"));
  process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
  process.on("SIGINT", () => process.exit(130));
  for (const file of tracked) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

const copy = copyOfCheckout();

/** Ends with what a command says of it: 0 is green. Of what runs for too long every process is ended. */
async function run(name: string, args: readonly string[]): Promise<number> {
  const child = spawn(join(copy, "node_modules/.bin", name), args, {
    cwd: copy,
    stdio: "ignore",
    detached: true,
  });
  const timer = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), RUN_MS_MAX);
  const [code] = (await once(child, "exit")) as [number | null];
  clearTimeout(timer);
  return code ?? 1;
}

/** Types of the sources, and `dist` for the tests that run it. */
const build = () => run("tsc", ["-p", "tsconfig.build.json"]);
const runTests = (files: readonly string[]) => run("vitest", ["run", "--bail", "1", ...files]);

/** Tests of the room: those that name the changed file first, since they notice most of what changes it. */
function testsOf(file: string): { near: string[]; others: string[] } {
  const tests = tracked.filter((path) => path.endsWith(".test.ts") && isWanted(path));
  const near = tests.filter((path) => readFileSync(join(root, path), "utf8").includes(`/${basename(file)}"`));
  return { near, others: tests.filter((path) => !near.includes(path)) };
}

function isWanted(path: string): boolean {
  const filters = values.tests ?? [`test/${room.replace(/^src\//, "").replace(/\.ts$/, "")}`];
  return filters.some((filter) => path.startsWith(filter));
}

async function fate(mutant: Mutant): Promise<"refused" | "killed" | "survived"> {
  const text = readFileSync(join(root, mutant.file), "utf8");
  writeFileSync(join(copy, mutant.file), applied(text, mutant));
  try {
    if ((await build()) !== 0) return "refused";
    const { near, others } = testsOf(mutant.file);
    for (const tests of [near, others])
      if (tests.length > 0 && (await runTests(tests)) !== 0) return "killed";
    return "survived";
  } finally {
    writeFileSync(join(copy, mutant.file), text);
  }
}

const all = sources.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), "utf8")));
const tests = Object.values(testsOf("")).flat();
if (tests.length === 0 || (await build()) !== 0 || (await runTests(tests)) !== 0) {
  process.stderr.write(`the tests of ${room} fail as it is, or there are none\n`);
  process.exit(2);
}
const counts = { refused: 0, killed: 0, survived: 0 };
for (const mutant of drawn(all, Number(values.count), Number(values.seed))) {
  const result = await fate(mutant);
  counts[result]++;
  const { file, line, before, after } = mutant;
  process.stdout.write(
    `${result.padEnd(8)} ${file}:${line}: ${before.replaceAll(/\s+/g, " ")} -> ${after.replaceAll(/\s+/g, " ")}\n`,
  );
}
process.stdout.write(
  `${counts.killed} of ${counts.killed + counts.survived} mutants of ${room} noticed, ${counts.survived} not; ` +
    `${counts.refused} refused by the types; ${all.length} to draw from, seed ${values.seed}\n`,
);
process.exitCode = counts.survived > 0 ? 1 : 0;
