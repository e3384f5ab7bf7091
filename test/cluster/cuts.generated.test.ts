import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Cut, Share } from "../../src/cluster/protocol/protocol.ts";
import { compile, type Program } from "../../src/compile.ts";
import { openPanelSource } from "../../src/data/source/open_panel_source.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { writeTable } from "../../src/data/write/write_table.ts";
import { Engine } from "../../src/engine.ts";
import type { EngineHost } from "../../src/evaluation/evaluation.ts";
import type { EvaluateOptions } from "../../src/evaluation/options.ts";
import { startHost } from "../../src/evaluation/start_host.ts";
import { FIELDS, GROUPS } from "../conformance/awkward_panels.ts";
import { hashed } from "../conformance/awkward_series.ts";
import { runSql } from "../data/scratch.ts";
import { fileFolder } from "../support/file_folder.ts";
import { testSeed } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { differenceOf } from "./support/difference.ts";
import { openInProcess, tableOfRun } from "./support/in_process_run.ts";
import { dayOf, randomBars, writeBars } from "./support/random_bars.ts";
import { randomPrograms } from "./support/random_program.ts";

/** Random programs on random bars, cut in any valid way and run task by task: the bits of the engine, or its error. */
const RUNS = trials(20, 100);

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
  blockRows: sometimes(50, oneOf(1, 3, 16, 64)),
  keepInfinite: fc.boolean(),
  kernel: oneOf("compiled", "compiled", "compiled", "reference"),
  mistake: sometimes(4, oneOf<EvaluateOptions>({ select: ["f9"] }, { blockRows: 0 }, { params: { q: 1 } })),
});

const cases = fc.record({
  text: randomPrograms,
  bars: randomBars,
  call: calls,
  /** The cut of the client, or any other one. */
  cut: sometimes(
    80,
    fc.record({
      slabRows: oneOf(1, 3, 10, 25, 64, 200),
      chunkRows: oneOf(1, 2, 7, 64, 1000),
      /** Which share takes each factor, and whether it is evaluated over all rows. */
      shares: fc.array(fc.record({ share: fc.nat(2), isHistory: fc.boolean() }), {
        minLength: 6,
        maxLength: 6,
      }),
    }),
  ),
  threads: oneOf(1, 2, 7),
  isBrought: fc.boolean(),
  isDataset: fc.boolean(),
});
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

let engine: Engine;
let host: EngineHost;
const folder = fileFolder();
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
  host = await startHost({ threads: 1, cores: 1 });
});
afterAll(async () => {
  await engine.close();
  await host.pool.close();
});

function optionsOf({ call, bars }: Case, program: Program, place: string): EvaluateOptions {
  const { params, paramsByTime, firstRow, lastRow, selected, blockRows, keepInfinite, kernel, mistake } =
    call;
  const names = program.factors.map(({ name }) => name);
  const select = names.filter((_, i) => selected === undefined || selected & (1 << i));
  return {
    params,
    keepInfinite,
    kernel,
    ...(blockRows !== undefined && { blockRows }),
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

/** Any valid cut of the job's factors. */
function cutOf({ cut }: Case, program: Program, known: Cut): Cut {
  if (cut === undefined) return known;
  const [first, end] = [known.slabRows[0]!, known.slabRows.at(-1)!];
  const factors = known.shares.flatMap((share) => share.factors);
  const byShare = [0, 1, 2].flatMap((number): Share[] => {
    const own = factors.filter((_, factor) => cut.shares[factor % 6]!.share === number);
    const lookbacks = program.factors
      .filter(({ name }) => own.includes(name))
      .map((each) => each.lookbackRows);
    const longest = Math.max(0, ...lookbacks);
    const isHistory = cut.shares[number]!.isHistory || longest === Number.POSITIVE_INFINITY;
    return own.length > 0 ? [{ factors: own, warmUpRows: isHistory ? null : longest }] : [];
  });
  const count = Math.ceil((end - first) / cut.slabRows);
  return {
    slabRows: [...Array.from({ length: count }, (_, slab) => first + slab * cut.slabRows), end],
    chunkRows: cut.chunkRows,
    shares: byShare.length > 0 ? byShare : known.shares,
  };
}

interface Setting {
  readonly drawn: Case;
  readonly program: Program;
  readonly options: EvaluateOptions;
  /** A folder of this case, and its bars. */
  readonly place: string;
  readonly file: string;
}

/** What the engine and the tasks give is compared as tables, or as Parquet. */
async function expectSame(setting: Setting): Promise<string> {
  const { program, options, file, place, drawn } = setting;
  const expected = await settled(engine.evaluate(program, await readPanel(file), options));
  const actual = await settled(onTasks(setting));
  if ("error" in expected) {
    expect(actual).toHaveProperty("error.message", expected.error.message);
    return "error";
  }
  if ("error" in actual) throw actual.error;
  if (drawn.isDataset) {
    const path = join(place, "expected.parquet");
    await writeTable(expected.value.table, path);
    const names = readdirSync(join(place, "dataset")).filter((name) => name.endsWith(".parquet"));
    const rows = names.length === 0 ? [] : await sortedRows(join(place, "dataset/*.parquet"));
    expect(rows).toEqual(await sortedRows(path));
    return "dataset";
  }
  expect(differenceOf(actual.value!, expected.value.table)).toBe(null);
  return "table";
}

const sortedRows = async (path: string) => await runSql(`SELECT * FROM '${path}' ORDER BY 1, 2`);

async function settled<T>(promise: Promise<T>): Promise<{ value: T } | { error: Error }> {
  try {
    return { value: await promise };
  } catch (error) {
    return { error: error as Error };
  }
}

/** The table of the run; null if workers write it. */
async function onTasks({ drawn, program, options, place, file }: Setting) {
  const source = await openPanelSource(file);
  const { threads, isBrought, isDataset } = drawn;
  const dataset = isDataset ? join(place, "dataset") : null;
  try {
    const path = isBrought ? null : file;
    const workers = [{ threads, memoryLimitBytes: 0 }];
    const run = await openInProcess(host, { program, source, path, options, workers, dataset });
    Object.assign(run.job, { cut: cutOf(drawn, program, run.job.cut) });
    if (dataset === null) return await tableOfRun(run, source, options.keepInfinite);
    for await (const _ of run.blocks()) throw new Error("rows came back to the client");
    expect(readdirSync(dataset)).not.toContain("_columns");
    return null;
  } finally {
    await source.close();
  }
}

/** @throws Error with the program and its options if the tasks give something else than the engine. */
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

const seed = testSeed();
describe("random programs, cut in any way, are as the engine evaluates them", () => {
  test(`seed ${seed}`, { timeout: 600_000 }, async () => {
    const ends: Record<string, number> = {};
    const property = fc.asyncProperty(cases, async (drawn) => {
      const end = await check(drawn);
      ends[end] = (ends[end] ?? 0) + 1;
    });
    await fc.assert(property, { seed, numRuns: RUNS, includeErrorInReport: true });
    expect(ends["table"]! + ends["dataset"]!).toBeGreaterThan(RUNS / 2);
  });
});
