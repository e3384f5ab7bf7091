import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { panelSource } from "../../src/data/panel/panel_source.ts";
import type { EngineHost } from "../../src/evaluation/evaluation.ts";
import {
  FactorStream,
  type RowsWithHistory,
  type StreamOptions,
} from "../../src/evaluation/factor_stream.ts";
import { compile, type Panel, type Program } from "../../src/index.ts";
import { randomPrograms } from "../cluster/support/random_program.ts";
import { weightedRange } from "../engine/fixtures/weighted_range.ts";
import { startHost } from "../execution/real_formulas.ts";
import { PANEL_NAMES } from "../fuzz/random_formulas.ts";
import { fileFolder } from "../support/file_folder.ts";
import { Seeded } from "../support/seeded.ts";
import { arenaCounts, overSmallArenas } from "../support/small_arenas.ts";
import { trials } from "../support/trials.ts";
import { panelWithGaps } from "./panels_with_gaps.ts";

/** One open stream, used for other rows again and again, gives what the whole evaluation gives. */

const PROGRAMS = trials(8, 400);
const ROWS = 200;
const SLABS = 7;
const UNBOUNDED =
  "a = ema(x, 4)\nb = cum_sum(rank(x))\nc = ts_std_dev(ffill(y), 9)\nd = ema(z, 3) when p > 0.6";
const random = new Seeded();
const registry = builtInRegistry.with([weightedRange]);

/** Values of all factors by row: NaN for null. */
type Rows = Map<bigint, BigUint64Array>;

const hosts: EngineHost[] = [];
const folder = fileFolder();
let counts: number[];
beforeAll(async () => {
  hosts.push(await startHost(1), await startHost(2));
  counts = arenaCounts(hosts[1]!);
});
afterAll(async () => {
  for (const { pool } of hosts) await pool.close();
});

/** Random factors with a limited lookback, and two with operators of the user. */
function randomProgram(): { readonly program: Program; readonly select: string[] } {
  const [text = expect.fail()] = fc.sample(randomPrograms, { seed: random.below(2 ** 31), numRuns: 1 });
  const own = ["own0 = weighted_range(x, 4)", "own1 = rank(weighted_range(x - y, 6)) when p > 0.6"];
  const program = compile([text, ...own].join("\n"), { ...PANEL_NAMES, operators: [weightedRange] });
  const bounded = program.factors.filter(({ lookbackRows }) => lookbackRows < Number.POSITIVE_INFINITY);
  return { program, select: bounded.map(({ name }) => name) };
}

const dateOf = (row: number) => new Date(row * 86_400_000).toISOString().slice(0, 10);

/** A table of params that stay for one row or for many. */
function paramsFile(): string {
  const changes = [1, 0.1, 0.02][random.below(3)]!;
  let values = "0.94,open";
  const lines = Array.from({ length: ROWS }, (_, row) => {
    if (random.uniform() < changes)
      values = `${random.below(3) / 2},${["open", "close", "other"][random.below(3)]}`;
    return `${dateOf(row)},${values}`;
  });
  const path = join(folder, "params.csv");
  writeFileSync(path, ["date,p,session", ...lines, ""].join("\n"));
  return path;
}

async function opened<T>(
  host: EngineHost,
  program: Program,
  panel: Panel,
  options: StreamOptions,
  use: (stream: FactorStream) => Promise<T>,
): Promise<T> {
  const stream = await FactorStream.open(host, registry, program, panelSource(panel), options);
  try {
    return await use(stream);
  } finally {
    await stream.close();
  }
}

/** @param blocksMax the reading ends early after this many blocks */
async function valuesOf(
  blocks: ReturnType<FactorStream["rows"]>,
  { laneCount }: Panel,
  blocksMax = Number.POSITIVE_INFINITY,
): Promise<Rows> {
  const found: Rows = new Map();
  let count = 0;
  for await (const { rowCount, times, columns } of blocks) {
    for (let row = 0; row < rowCount; row++) {
      const cells = [...columns.values()].flatMap((column) => {
        return column ? [...column.subarray(row * laneCount, (row + 1) * laneCount)] : [Number.NaN];
      });
      const canonical = cells.map((cell) => (Number.isNaN(cell) ? Number.NaN : cell));
      found.set(times[row]!, new BigUint64Array(Float64Array.from(canonical).buffer));
    }
    if (++count === blocksMax) break;
  }
  return found;
}

/** Rows in any order: some overlap, some are one row. */
function slabsOf(
  range: FactorStream["range"],
  lookback: number,
): (RowsWithHistory & { readonly start: number })[] {
  return Array.from({ length: SLABS }, (_, index) => {
    const first = range.first + random.below(range.end - range.first);
    const rowCount = index % 3 === 0 ? 1 : random.below(range.end - first + 1);
    return { start: Math.max(0, first - lookback), first, end: first + rowCount };
  });
}

function expectRows(found: Rows, { first, end }: RowsWithHistory, whole: Rows, what: string): void {
  expect([...found.keys()], what).toEqual(
    Array.from({ length: end - first }, (_, row) => BigInt(first + row)),
  );
  for (const [time, cells] of found) expect(cells, `row ${time}, ${what}`).toEqual(whole.get(time));
}

describe(`rows on an open stream, seed ${random.seed}`, () => {
  let late = 0;
  const cases = Array.from({ length: PROGRAMS }, (_, index) => index);
  test.each(cases)("have the bits of the whole evaluation: program %i", async () => {
    const { program, select } = randomProgram();
    const panel = panelWithGaps(random, ROWS, 2 + random.below(40));
    const options: StreamOptions = {
      select,
      ...(random.below(5) > 0 && { blockRows: [1, 7, 16, 64][random.below(4)]! }),
      ...(random.below(3) > 0 && { paramsByTime: paramsFile() }),
      ...(random.below(3) === 0 && { from: dateOf(random.below(ROWS)) }),
    };
    const whole = await opened(hosts[0]!, program, panel, options, (stream) =>
      valuesOf(stream.blocks(), panel),
    );
    const bounded = program.factors.filter(({ name }) => select.includes(name));
    const lookback = Math.max(...bounded.map(({ lookbackRows }) => lookbackRows));
    const inSlabs = async (host: EngineHost) =>
      await opened(host, program, panel, options, async (stream) => {
        for (const slab of slabsOf(stream.range, lookback)) {
          const what = `${JSON.stringify({ ...options, ...slab })}\n${program.written.source.text}`;
          // One that ends early has no effect on the next.
          if (random.below(3) === 0) await valuesOf(stream.rows(slab), panel, 1 + random.below(2));
          expectRows(await valuesOf(stream.rows(slab), panel), slab, whole, what);
          late += Number(slab.start > 0 && slab.end > slab.first);
        }
      });
    await inSlabs(hosts[0]!);
    await inSlabs(hosts[1]!);
    await overSmallArenas(hosts[1]!, 2 ** 17, inSlabs);
  });

  test("begin late, and some programs take several memories", () => {
    expect(late).toBeGreaterThan(PROGRAMS);
    expect(Math.max(...counts)).toBeGreaterThan(1);
  });

  test("with a row of history too few differ", async () => {
    const program = compile("a = ts_mean(x, 5)\nb = rank(weighted_range(y, 3))", {
      ...PANEL_NAMES,
      operators: [weightedRange],
    });
    const panel = panelWithGaps(random, ROWS, 30);
    await opened(hosts[1]!, program, panel, {}, async (stream) => {
      const at = async (start: number) => await valuesOf(stream.rows({ start, first: 100, end: 110 }), panel);
      const enough = await at(96);
      expect(await at(97)).not.toEqual(enough);
      expect(await at(0)).toEqual(enough);
      expect(await at(96)).toEqual(enough);
    });
  });

  test("begin with the state of a new evaluation, once blocks under way have ended", async () => {
    const program = compile(
      ["param p = 1", 'param session = "open"', UNBOUNDED, "e = ts_rank(x, 9)"].join("\n"),
      PANEL_NAMES,
    );
    const panel = panelWithGaps(random, ROWS, 30);
    const options = { paramsByTime: paramsFile(), blockRows: 16 };
    await opened(hosts[1]!, program, panel, options, async (stream) => {
      const { evaluation } = stream;
      const carried = () =>
        evaluation!.arenas.map(({ memory, kernels }) =>
          Buffer.from(Uint8Array.from(new Uint8Array(memory.buffer, 0, kernels.finishedByteOffset))),
        );
      const before = carried();
      await valuesOf(stream.rows({ start: 0, first: 0, end: ROWS }), panel);
      const running = evaluation!.run({ rowCount: 16, inputRow: 0, outputRow: 0 });
      await evaluation!.restart();
      expect(carried().map((bytes, arena) => bytes.compare(before[arena]!))).toEqual(before.map(() => 0));
      await running;
      expect(await valuesOf(stream.rows({ start: 3, first: 7, end: 7 }), panel)).toEqual(new Map());
    });
  });

  test("of factors that look back without end begin at the first row", async () => {
    const program = compile(`param p = 1\nparam session = "open"\n${UNBOUNDED}`, PANEL_NAMES);
    const panel = panelWithGaps(random, ROWS, 30);
    const options = { paramsByTime: paramsFile(), blockRows: 16 };
    for (const host of hosts) {
      const whole = await opened(host, program, panel, options, (stream) => valuesOf(stream.blocks(), panel));
      await opened(host, program, panel, options, async (stream) => {
        for (const end of [ROWS, 50, ROWS]) {
          const rows = { start: 0, first: 20, end };
          expectRows(await valuesOf(stream.rows(rows), panel), rows, whole, `up to row ${end}`);
        }
      });
    }
  });
});
