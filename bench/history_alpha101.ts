import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { compile, Engine, readPanel } from "../src/index.ts";

/**
 * The 101 formulas over the bundled bars on one thread and on all cores, in turn, so that a drift of the machine's
 * speed meets both. Prints medians and their ratio as JSON.
 *
 * Usage: npm run bench -- [pairs]
 */
const pairCount = Number(process.argv[2] ?? 3);
const fromRoot = (path: string) => new URL(`../${path}`, import.meta.url).pathname;

const panel = await readPanel(fromRoot("examples/data/sp100_daily.csv.gz"), {
  groups: fromRoot("examples/data/sp100_sectors.csv"),
});
const text = readFileSync(fromRoot("examples/alpha101.factors"), "utf8");
const columns = { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] };

const compileMs: number[] = [];
for (let i = 0; i < 20; i++) {
  const started = performance.now();
  compile(text, columns);
  compileMs.push(performance.now() - started);
}
const program = compile(text, columns);

async function computeMs(engine: Engine): Promise<number> {
  return (await engine.evaluateWithReport(program, panel)).report.computeMs;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] as number;
}

const threads = availableParallelism();
await using one = await Engine.start({ threads: 1 });
await using many = await Engine.start({ threads });
const [oneMs, manyMs]: [number[], number[]] = [[], []];
for (let pair = 0; pair < pairCount; pair++) {
  oneMs.push(await computeMs(one));
  manyMs.push(await computeMs(many));
}
const result = {
  workload: `alpha101, ${panel.rowCount} rows x ${panel.laneCount} lanes`,
  compileMs: median(compileMs),
  oneThreadMs: median(oneMs),
  threads,
  manyThreadsMs: median(manyMs),
  speedup: median(oneMs.map((ms, pair) => ms / (manyMs[pair] as number))),
};
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
