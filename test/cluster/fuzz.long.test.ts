import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { prepareJob } from "../../src/cluster/cut/cluster_job.ts";
import { buildTaskGraph } from "../../src/cluster/cut/task_graph.ts";
import { compile, type Program } from "../../src/compile.ts";
import { openPanelSource } from "../../src/data/source/open_panel_source.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { Engine } from "../../src/engine.ts";
import type { EvaluateOptions } from "../../src/evaluation/options.ts";
import { DEFAULT_COSTS } from "../../src/plan/cost_model.ts";
import { FIELDS, GROUPS } from "../conformance/awkward_panels.ts";
import { hashed } from "../conformance/awkward_series.ts";
import { fileFolder } from "../support/file_folder.ts";
import { testSeed } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { differenceOf } from "./support/difference.ts";
import { dayOf, randomBars, writeBars } from "./support/random_bars.ts";
import { randomPrograms } from "./support/random_program.ts";
import { runGraph } from "./support/run_graph.ts";

/** Graphs of random programs on random bars, executed in this process task by task: the bits of the engine, or its error. */
const FIXED = { seed: 20_260_101, graphCount: 30 };
const fresh = { seed: testSeed(), graphCount: trials(6, 30) };

/** A graph takes 0.3 s; the rest is for slow machines and for finding a smaller case that fails too. */
const runMsMax = (graphCount: number) => 1_200_000 + 1000 * graphCount;
const timeoutMs = (graphCount: number) => runMsMax(graphCount) + 60_000;

/** In `percent` of a hundred cases; else undefined, to which cases shrink. */
const sometimes = <T>(percent: number, arbitrary: fc.Arbitrary<T>) =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: 100 - percent, arbitrary: fc.constant(undefined) },
    { weight: percent, arbitrary },
  );
const oneOf = <const T>(...values: readonly T[]) => fc.constantFrom(...values);

const calls = fc.record({
  params: fc.record({ p: oneOf(0.94, -0, 2, 1e300), session: oneOf("open", "close", "other") }),
  /** Seeds the table of params by time. */
  paramsByTime: sometimes(30, fc.nat(1000)),
  firstRow: sometimes(35, fc.nat(200)),
  lastRow: sometimes(35, fc.nat(200)),
  /** One bit for each factor. */
  selected: sometimes(30, fc.integer({ min: 1, max: 63 })),
  keepInfinite: fc.boolean(),
  kernel: oneOf("compiled", "compiled", "compiled", "reference"),
  mistake: sometimes(4, oneOf<EvaluateOptions>({ select: ["f9"] }, { blockRows: 0 }, { params: { q: 1 } })),
});

const cases = fc.record({
  text: randomPrograms,
  bars: randomBars,
  call: calls,
  cut: oneOf("stages", "stages", "slabs", "auto"),
  partition: fc.record({
    shardLanes: sometimes(80, oneOf(1, 2, 3, 8, 16, 40)),
    slabRows: sometimes(80, oneOf(1, 3, 10, 25, 64, 200)),
    blockRows: sometimes(80, oneOf(1, 2, 5, 16, 64, 300)),
  }),
  exchange: oneOf("store", "memory"),
  isBrought: sometimes(30, fc.constant(true)),
  executorCount: fc.integer({ min: 1, max: 3 }),
});
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

let engine: Engine;
const folder = fileFolder();
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(async () => {
  await engine.close();
});

function optionsOf({ call, bars }: Case, program: Program, place: string): EvaluateOptions {
  const { params, paramsByTime, firstRow, lastRow, selected, keepInfinite, kernel, mistake } = call;
  const names = program.factors.map(({ name }) => name);
  const select = names.filter((_, i) => selected === undefined || selected & (1 << i));
  return {
    params,
    keepInfinite,
    kernel,
    ...(paramsByTime !== undefined && { paramsByTime: writeParams(paramsByTime, bars.rowCount, place) }),
    ...(firstRow !== undefined && { from: dayOf(firstRow % bars.rowCount) }),
    ...(lastRow !== undefined && { to: dayOf(lastRow % bars.rowCount) }),
    ...(select.length > 0 && select.length < names.length && { select }),
    ...mistake,
  };
}

/** A table that lacks times and values. */
function writeParams(seed: number, rowCount: number, place: string): string {
  const choice = (values: readonly string[], row: number, column: number) =>
    values[Math.floor(hashed(seed + column, row) * values.length)];
  const lines = Array.from({ length: rowCount }, (_, row) => {
    return `${dayOf(row)},${choice(["", "0.5", "3", "-1"], row, 1)},${choice(["", "open", "close"], row, 2)}`;
  });
  const kept = lines.filter((_, row) => row === 0 || hashed(seed, row) < 0.7);
  const path = join(place, "params.csv");
  writeFileSync(path, `${["date,p,session", ...kept].join("\n")}\n`);
  return path;
}

interface Setting {
  readonly drawn: Case;
  readonly program: Program;
  readonly options: EvaluateOptions;
  /** A folder of this case, and its bars. */
  readonly place: string;
  readonly file: string;
}

/** The table of the graph, and how the program was cut. */
async function onGraph({ drawn, program, options, place, file }: Setting) {
  const source = await openPanelSource(file);
  const { cut, partition, exchange, isBrought, executorCount } = drawn;
  try {
    const prepared = await prepareJob({
      program,
      registry: builtInRegistry,
      source,
      path: isBrought ? null : file,
      sourceOptions: {},
      options,
      costs: DEFAULT_COSTS,
      threadCount: 2,
      folder: exchange === "store" ? place : null,
      dataset: null,
      cut,
      partition,
    });
    const graph = buildTaskGraph(prepared.job, { prefix: "run", costNs: () => 1e6 });
    const keepInfinite = options.keepInfinite === true;
    const table = await runGraph(prepared, graph, "run", source, { executorCount, keepInfinite });
    return { table, form: prepared.job.warmUpRows === null ? "stages" : "slabs" };
  } finally {
    await source.close();
  }
}

/** How the case ended: "stages", "slabs", "error" where the engine has the same one, "E621". */
async function expectSame(setting: Setting): Promise<string> {
  const { program, options, file, drawn } = setting;
  const panel = await readPanel(file);
  const [expected, actual] = [
    await settled(engine.evaluate(program, panel, options)),
    await settled(onGraph(setting)),
  ];
  if ("error" in expected) {
    expect(actual).toHaveProperty("error.message", expected.error.message);
    return "error";
  }
  if ("error" in actual) {
    expect(actual.error).toHaveProperty("code", "E621");
    expect(drawn.cut).toBe("slabs");
    const isUnbounded = program.factors.some(({ lookbackRows }) => lookbackRows === Number.POSITIVE_INFINITY);
    expect(isUnbounded || drawn.isBrought).toBe(true);
    return "E621";
  }
  const { table, form } = actual.value;
  if (drawn.cut !== "auto") expect(form).toBe(drawn.cut);
  const difference = differenceOf(table, expected.value);
  expect(difference, fc.stringify(difference)).toBe(null);
  return form;
}

async function settled<T>(promise: Promise<T>): Promise<{ value: T } | { error: Error }> {
  try {
    return { value: await promise };
  } catch (error) {
    return { error: error as Error };
  }
}

/** @throws Error with the program and its options if the graph gives something else than the engine. */
async function check(drawn: Case): Promise<string> {
  const place = mkdtempSync(join(folder, "case-"));
  const file = join(place, "bars.parquet");
  const program = compile(drawn.text, { fields: FIELDS, groups: GROUPS });
  const options = optionsOf(drawn, program, place);
  try {
    await writeBars(drawn.bars, file);
    return await expectSame({ drawn, program, options, place, file });
  } catch (error) {
    const { text, call: _, ...cluster } = drawn;
    const description = [text, `options ${fc.stringify(options)}`, `run ${fc.stringify(cluster)}`];
    throw new Error(`${(error as Error).message}\n${description.join("\n")}`, { cause: error });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** How many graphs ended how; the message of a failure has the seed, the smallest case found and its program. */
async function checkGraphs({ seed, graphCount }: typeof FIXED): Promise<Record<string, number>> {
  const ends: Record<string, number> = {};
  const property = fc.asyncProperty(cases, async (drawn) => {
    const end = await check(drawn);
    ends[end] = (ends[end] ?? 0) + 1;
  });
  await fc.assert(property, {
    seed,
    numRuns: graphCount,
    includeErrorInReport: true,
    interruptAfterTimeLimit: runMsMax(graphCount),
    markInterruptAsFailure: true,
  });
  return ends;
}

describe("random programs on a graph are as the engine evaluates them", () => {
  test(
    "a fixed seed, among them all ways to cut, and errors",
    async () => {
      const ends = await checkGraphs(FIXED);
      expect(Object.keys(ends).sort()).toEqual(["E621", "error", "slabs", "stages"]);
      expect(ends["stages"]! + ends["slabs"]!).toBeGreaterThan(FIXED.graphCount / 2);
    },
    timeoutMs(FIXED.graphCount),
  );

  test(
    `seed ${fresh.seed}`,
    async () => {
      const ends = Object.values(await checkGraphs(fresh));
      expect(ends.reduce((sum, count) => sum + count)).toBe(fresh.graphCount);
    },
    timeoutMs(fresh.graphCount),
  );
});
