import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInRegistry } from "../../../operators/index.ts";
import { panelSource } from "../../../src/data/panel/panel_source.ts";
import type { EngineHost } from "../../../src/evaluation/evaluation.ts";
import { FactorStream } from "../../../src/evaluation/factor_stream.ts";
import type { EvaluateOptions } from "../../../src/evaluation/options.ts";
import { compile, type Panel, type Program } from "../../../src/index.ts";
import { JobStore } from "../../../src/jobs/ledger/job_store.ts";
import type { PreparedBatch } from "../../../src/jobs/ledger/records.ts";
import type { JobProgram } from "../../../src/jobs/state/job_program.ts";
import { type CurrentStateSpec, JobState } from "../../../src/jobs/state/job_state.ts";
import { randomPrograms } from "../../cluster/support/random_program.ts";
import { panelWithGaps } from "../../evaluation/panels_with_gaps.ts";
import { startHost } from "../../execution/real_formulas.ts";
import { PANEL_NAMES } from "../../fuzz/random_formulas.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";

/**
 * A job that is restarted after each batch, with other threads, other blocks and the symbols that came since, gives what one
 * evaluation of all rows gives. Its input is gone by then, and so are the params of the rows before.
 */

const PROGRAMS = trials(4, 300);
/** More than most programs keep: rows before are forgotten. */
const ROWS = 700;
const BATCHES = 5;
const BLOCK_ROWS = [1, 7, 16, 64, undefined];
/** Windows over recursions over windows, three deep; across the row, by group, and under a condition. */
const DEEP = [
  "deep0 = ts_mean(ema(ts_max(x, 30), 7) - ema(rank(x), 3), 20)",
  "deep1 = ts_rank(cum_sum(rank(ts_mean(ema(y, 9), 25))), 40)",
  "deep2 = ema(group_neutralize(ema(z, 5), g), 4) * ts_mean(x * p, 60)",
  'deep3 = ema(ts_std_dev(cum_sum(x), 11) + p, 6) when session == "close"',
];
const random = new Seeded();
const hosts: EngineHost[] = [];
const folder = fileFolder();
let forgotten = 0;
let grown = 0;
let continued = 0;
beforeAll(async () => {
  hosts.push(await startHost(1), await startHost(2), await startHost(3));
});
afterAll(async () => {
  for (const { pool } of hosts) await pool.close();
});

const oneOf = <T>(values: readonly T[]): T => values[random.below(values.length)]!;
const dateOf = (row: number) => new Date(row * 86_400_000).toISOString().slice(0, 10);

/** Params that stay for one row or for many: a line per row. */
function paramLines(): string[] {
  const changes = oneOf([1, 0.1, 0.02]);
  let values = "0.94,open";
  return Array.from({ length: ROWS }, (_, row) => {
    if (random.uniform() < changes) values = `${random.below(3) / 2},${oneOf(["open", "close", "other"])}`;
    return `${dateOf(row)},${values}`;
  });
}

function distinctAfter(lines: readonly string[]): string[] {
  const distinct = new Set(lines.map((line) => line.slice(line.indexOf(","))));
  return [...distinct].map((values, index) => `${dateOf(ROWS + index)}${values}`);
}

function paramsFile(lines: readonly string[]): string {
  const path = join(folder, "params.csv");
  writeFileSync(path, ["date,p,session", ...lines, ""].join("\n"));
  return path;
}

/** Rows of a panel, of the lanes that have one among them. */
function partOf(panel: Panel, first: number, end: number): Panel {
  const { laneCount } = panel;
  const lanes = panel.symbols.flatMap((_, lane) => (hasRow(panel, lane, first, end) ? lane : []));
  const cells = Array.from({ length: (end - first) * lanes.length }, (_, cell) => {
    return (first + Math.floor(cell / lanes.length)) * laneCount + lanes[cell % lanes.length]!;
  });
  const columns = [...panel.fields].map(([name, values]) => {
    const column = new Float64Array(new SharedArrayBuffer(8 * cells.length));
    column.set(cells.map((cell) => values[cell]!));
    return [name, column] as const;
  });
  const groups = [...panel.groups].map(([name, group]) => {
    const codes = new Int32Array(new SharedArrayBuffer(4 * cells.length));
    codes.set(cells.map((cell) => group.codes[group.changesOverTime ? cell : cell % laneCount]!));
    return [name, { ...group, codes, changesOverTime: true }] as const;
  });
  return {
    ...panel,
    rowCount: end - first,
    laneCount: lanes.length,
    symbols: lanes.map((lane) => panel.symbols[lane]!),
    time: { ...panel.time, values: panel.time.values.slice(first, end) },
    fields: new Map(columns),
    groups: new Map(groups),
    present: Uint8Array.from(cells, (cell) => panel.present[cell]!),
  };
}

function hasRow({ present, laneCount }: Panel, lane: number, first: number, end: number): boolean {
  for (let row = first; row < end; row++) if (present[row * laneCount + lane] === 1) return true;
  return false;
}

/** Factors of each row that a symbol has, as bits. */
type Rows = Map<string, BigUint64Array>;

async function addRows(blocks: ReturnType<JobState["rows"]>, symbols: readonly string[], rows: Rows) {
  for await (const { rowCount, times, present, columns } of blocks)
    for (let row = 0; row < rowCount; row++)
      for (const [lane, symbol] of symbols.entries()) {
        const cell = row * symbols.length + lane;
        if (present[cell] !== 1) continue;
        const values = [...columns.values()].map((column) => column?.[cell] ?? Number.NaN);
        const canonical = values.map((value) => (Number.isNaN(value) ? Number.NaN : value));
        rows.set(`${times[row]} ${symbol}`, new BigUint64Array(Float64Array.from(canonical).buffer));
      }
}

async function whole(program: Program, panel: Panel, options: EvaluateOptions): Promise<Rows> {
  const rows: Rows = new Map();
  const stream = await FactorStream.open(hosts[0]!, builtInRegistry, program, panelSource(panel), options);
  await addRows(stream.blocks(), panel.symbols, rows);
  return rows;
}

interface Batch {
  readonly panel: Panel;
  readonly first: number;
  readonly end: number;
  readonly options: EvaluateOptions;
  readonly store: JobStore;
  readonly saved: PreparedBatch["checkpoint"];
}

/** Runs a batch in a state of its own, as after a restart. */
async function runBatch(program: Program, { panel, first, end, options, store, saved }: Batch, rows: Rows) {
  const symbols = panel.symbols.filter((_, lane) => hasRow(panel, lane, 0, end));
  const { time, fields, groups, seriesNames = [] } = panel;
  const columns = { time, fieldNames: [...fields.keys()], groupNames: [...groups.keys()] };
  const signal = new AbortController().signal;
  const state = await JobState.current({
    host: oneOf(hosts),
    store: {
      ledger: {
        digested: [],
        batch: saved && { checkpoint: saved },
        begin: columns,
        universe: { symbols, groups: [] },
      },
      readCheckpoint: async (checkpoint: NonNullable<PreparedBatch["checkpoint"]>) =>
        await store.readCheckpoint(checkpoint),
    } as unknown as CurrentStateSpec["store"],
    program: { program, options, seriesNames, read: { fields: [], groups: [] } } as unknown as JobProgram,
    reading: { signal } as CurrentStateSpec["reading"],
    onRebuild: (reason) => expect.fail(reason),
  });
  try {
    const file = partOf(panel, first, end);
    const files = [{ path: "a file", open: async () => panelSource(file) }];
    await addRows(state.rows(files, signal), symbols, rows);
    return { saved: await state.save(store, end), symbolCount: symbols.length };
  } finally {
    await state.close();
  }
}

describe(`a job that is restarted after each batch, seed ${random.seed}`, () => {
  const cases = Array.from({ length: PROGRAMS }, (_, index) => index);
  test.each(cases)("has the bits of one evaluation: program %i", async (number) => {
    const [drawn = expect.fail()] = fc.sample(randomPrograms, { seed: random.below(2 ** 31), numRuns: 1 });
    const text = [drawn, ...DEEP.filter(() => random.below(2) === 0)].join("\n");
    const program = compile(text, PANEL_NAMES);
    const panel = panelWithGaps(random, ROWS, 2 + random.below(9));
    const lines = random.below(3) > 0 ? paramLines() : null;
    const restarts = random.below(3) === 0 && {
      restarts: Array.from({ length: 3 }, () => dateOf(random.below(ROWS))),
    };
    const optionsFrom = (row: number): EvaluateOptions => ({
      ...restarts,
      // Those of the rows before come again behind all rows: the same factors are wanted.
      ...(lines && { paramsByTime: paramsFile([...lines.slice(row), ...distinctAfter(lines)]) }),
    });
    const expected = await whole(program, panel, optionsFrom(0));
    const cuts = Array.from({ length: BATCHES - 1 }, () => 1 + random.below(ROWS - 1));
    const ends = [...new Set([...cuts, ROWS])].sort((a, b) => a - b);
    const rows: Rows = new Map();
    let [first, symbolCount] = [0, 0];
    using store = await JobStore.open(folder, `job${number}`);
    const segments = () =>
      readdirSync(join(folder, `job${number}`)).filter((name) => name.startsWith("rows-"));
    let saved: Batch["saved"] = null;
    for (const end of ends) {
      const blockRows = oneOf(BLOCK_ROWS);
      const options = { ...optionsFrom(first), ...(blockRows !== undefined && { blockRows }) };
      const files = segments();
      const ran = await runBatch(program, { panel, first, end, options, store, saved }, rows);
      if (saved !== null && ran.symbolCount === symbolCount && !restarts && end - first < 250) {
        expect(segments(), "new rows are behind the others").toEqual(files);
        continued++;
      }
      grown += Number(saved !== null && ran.symbolCount > symbolCount);
      forgotten += Number(first > 300);
      [first, saved, symbolCount] = [end, ran.saved, ran.symbolCount];
    }
    expect(rows.size).toBe(expected.size);
    for (const [key, values] of expected)
      expect(rows.get(key), `${key}, cuts ${ends}\n${text}`).toEqual(values);
  });

  test("goes on with rows forgotten, and with new symbols", () => {
    expect(forgotten).toBeGreaterThan(PROGRAMS);
    expect(grown).toBeGreaterThan(PROGRAMS);
    expect(continued).toBeGreaterThan(0);
  });
});
