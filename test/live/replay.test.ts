import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  compile,
  Engine,
  type LiveSession,
  type OpenOptions,
  type Panel,
  type ParamValue,
  type Program,
  readCheckpoint,
  readPanel,
  writeCheckpoint,
} from "../../src/index.ts";
import { openSession } from "../../src/live/session/open_session.ts";
import { startHost } from "../execution/real_formulas.ts";
import { fileFolder } from "../support/file_folder.ts";
import { Seeded } from "../support/seeded.ts";
import {
  alpha101,
  barOf,
  disturbed,
  example,
  expectLines,
  linesByTime,
  rowsOf,
  TEXT,
} from "./real_session.ts";

/** Replaying real bars row by row gives the bits of `evaluate` over the whole history, whatever happens meanwhile. */

const ROWS = 160;
const random = new Seeded();
const SEED = random.seed;

let engine: Engine;
let bars: Panel;
let program: Program;
const folder = fileFolder();
let params: Record<string, ParamValue>[];
let expected: Map<string, string[]>;

beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
  const all = await readPanel(example("data/sp100_daily.csv.gz"), {
    groups: example("data/sp100_sectors.csv"),
  });
  bars = rowsOf(all, 300, 300 + ROWS);
  program = programOf(TEXT);
  params = randomParams();
  const file = join(folder, "params.csv");
  writeFileSync(file, paramsTable());
  expected = linesByTime(await engine.evaluate(program, bars, { paramsByTime: file }));
});
afterAll(async () => {
  await engine.close();
});

const programOf = (text: string) =>
  compile(text, { fields: [...bars.fields.keys()], groups: [...bars.groups.keys()] });

/** Conditions hold for stretches of rows, so that nodes are skipped for short and for long. */
function randomParams(): Record<string, ParamValue>[] {
  let current: Record<string, ParamValue> = { session: "open", minute: 0, lambda: 0.5 };
  return Array.from({ length: ROWS }, (_, row) => {
    if (row === 0 || random.uniform() < 0.2) {
      current = {
        session: random.uniform() < 0.3 ? "close" : "open",
        minute: random.below(12),
        lambda: random.uniform(),
      };
    }
    return current;
  });
}

function paramsTable(): string {
  const lines = params.map(
    ({ session, minute, lambda }, row) => `${dayOf(row)},${session},${minute},${lambda}`,
  );
  return ["date,session,minute,lambda", ...lines, ""].join("\n");
}

const dayOf = (row: number) =>
  new Date(Number(bars.time.values[row]) * 86_400_000).toISOString().slice(0, "2000-01-01".length);
const linesOfRow = (row: number) => expected.get(dayOf(row));

const open = (options: Partial<OpenOptions> = {}, of = program) =>
  engine.open(of, { warmup: rowsOf(bars, 0, 0), ...options });

async function push(session: LiveSession, row: number): Promise<void> {
  const { table } = await session.push(rowsOf(bars, row, row + 1), { params: params[row]! });
  expectLines(table, linesOfRow(row), `row ${row}, seed ${SEED}`);
}

async function pushAll(session: LiveSession, first = 0, end = ROWS): Promise<void> {
  for (let row = first; row < end; row++) await push(session, row);
}

describe("a replay gives the bits of the whole history", () => {
  test.each([0, 1, 64])("under changing params, with %i spare lanes", async (spareSymbols) => {
    await using session = await open({ spareSymbols });
    await pushAll(session);
    expect(session.lastTime).toBe(bars.time.values.at(-1));
  });

  test.each([false, true])("catching up while no push waits (revised: %s)", async (revisable) => {
    const host = await startHost(2);
    const open = host.pool.open.bind(host.pool);
    let restCount = 0;
    host.pool.open = async (...args) => {
      const plan = await open(...args);
      const run = plan.run.bind(plan);
      plan.run = async (block, options) => {
        if (options?.addsRemainingNodes) restCount++;
        await run(block, options);
      };
      return plan;
    };
    const session = await openSession(host, program, {
      warmup: rowsOf(bars, 0, 0),
      catchUp: "idle",
      revisable,
    });
    let prunedCount = 0;
    for (let row = 0; row < ROWS; row++) {
      const bar = rowsOf(bars, row, row + 1);
      const options = { params: params[row]! };
      if (revisable && row % 3 === 0) {
        await session.push(disturbed(bar, row), { params: params[(row * 7) % ROWS]! });
        const { table } = await session.revise(bar, options);
        expectLines(table, linesOfRow(row), `row ${row}, seed ${SEED}`);
      } else {
        const { table, timing } = await session.push(bar, options);
        expectLines(table, linesOfRow(row), `row ${row}, seed ${SEED}`);
        if (timing.nodesPruned > 0) prunedCount++;
      }
    }
    expect(prunedCount).toBeGreaterThan(0);
    expect(restCount).toBeGreaterThanOrEqual(prunedCount);
    await session.close();
    await host.pool.close();
  });

  test("of the 101 formulas", async () => {
    const alphas = programOf(alpha101());
    const lines = linesByTime(await engine.evaluate(alphas, bars));
    await using session = await open({ symbols: bars.symbols.toReversed() }, alphas);
    for (let row = 0; row < 120; row++) {
      const { table, timing } = await session.push(barOf(bars, row, session.symbols));
      expectLines(table, lines.get(dayOf(row)), `row ${row}`);
      expect(timing.nodesPruned).toBe(0);
    }
  });

  test("after a warm-up", async () => {
    const fixed = { session: "close", minute: 5, lambda: 0.25 } as const;
    const lines = linesByTime(await engine.evaluate(program, bars, { params: fixed }));
    await using session = await open({ warmup: rowsOf(bars, 0, 100), params: fixed });
    for (let row = 100; row < 140; row++) {
      const { table } = await session.push(barOf(bars, row, session.symbols));
      expectLines(table, lines.get(dayOf(row)), `row ${row}`);
    }
  });

  test("from a checkpoint every 40 rows", async () => {
    let session = await open();
    const file = join(folder, "session.checkpoint");
    for (let row = 0; row < ROWS; row++) {
      if (row % 40 === 20) {
        await writeCheckpoint(file, await session.checkpoint());
        await session.close();
        session = await engine.open(program, { checkpoint: await readCheckpoint(file) });
      }
      await push(session, row);
    }
    await session.close();
  });

  test("with every bar revised, twice every seventh", async () => {
    await using session = await open({ revisable: true });
    for (let row = 0; row < ROWS; row++) {
      const bar = rowsOf(bars, row, row + 1);
      const other = params[(row * 31) % ROWS]!;
      await session.push(disturbed(bar, row), { params: other });
      if (row % 7 === 0) await session.revise(disturbed(bar, row + 1), { params: params[row]! });
      const { table } = await session.revise(bar, { params: params[row]! });
      expectLines(table, linesOfRow(row), `row ${row}, seed ${SEED}`);
    }
  });

  test("with some pushes and revisions aborted", async () => {
    await using session = await open({ revisable: true });
    for (let row = 0; row < ROWS; row++) {
      const bar = rowsOf(bars, row, row + 1);
      const stands =
        row % 3 === 0 && (await standsThough((signal) => session.push(disturbed(bar, row), { signal })));
      if (row % 11 === 5 && !stands) {
        await using later = await engine.open(program, { checkpoint: await session.checkpoint() });
        await push(later, row);
      }
      if (stands) await session.revise(bar, { params: params[row]! });
      else await push(session, row);
      if (row % 4 === 0) {
        await standsThough((signal) => session.revise(disturbed(bar, row), { params: params[0]!, signal }));
        const { table } = await session.revise(bar, { params: params[row]! });
        expectLines(table, linesOfRow(row), `row ${row} revised, seed ${SEED}`);
      }
    }
  });
});

describe("the last good bar", () => {
  const fixed = { session: "close", minute: 5, lambda: 0.25 } as const;

  // Under changing params what conditions had left out catches up in every other push.
  test.each([
    { isFixed: true },
    { isFixed: false },
  ])("can be revised after pushes that were aborted, with the same bits (fixed params: $isFixed)", async ({
    isFixed,
  }) => {
    const paramsAt = (row: number) => (isFixed ? fixed : params[row % ROWS]!);
    const lines = isFixed ? linesByTime(await engine.evaluate(program, bars, { params: fixed })) : expected;
    await using session = await open({ revisable: true });
    const revise = async (row: number) => {
      const bar = rowsOf(bars, row, row + 1);
      await session.revise(disturbed(bar, row), { params: paramsAt(row * 5) });
      await standsThough((signal) => session.revise(disturbed(bar, row), { params: paramsAt(row), signal }));
      const { table } = await session.revise(bar, { params: paramsAt(row) });
      expectLines(table, lines.get(dayOf(row)), `row ${row}, seed ${SEED}`);
    };
    let aborts = 0;
    for (let row = 0; row < ROWS; row++) {
      const bar = rowsOf(bars, row, row + 1);
      const tryPush = async (signal: AbortSignal) => {
        await session.push(disturbed(bar, row), { signal, params: paramsAt(row * 3) });
      };
      let stands = row % 2 === 1 && (await standsThough(tryPush));
      if (row % 4 === 3 && !stands) stands = await standsThough(tryPush);
      if (row % 2 === 1 && !stands) {
        aborts++;
        await revise(row - 1);
      }
      if (stands) await session.revise(bar, { params: paramsAt(row) });
      else await session.push(bar, { params: paramsAt(row) });
      if (row % 5 === 0) await revise(row);
    }
    expect(aborts).toBeGreaterThan(ROWS / 10);
  });

  test("can be revised after an update that follows an aborted push", async () => {
    const lines = linesByTime(await engine.evaluate(program, bars, { params: fixed }));
    const other = programOf(`${TEXT}\nanother = ema(close, 7) + cum_sum(volume)\n`);
    await using session = await open({ revisable: true, params: fixed, retainRows: ROWS });
    for (let row = 0; row < 60; row++) {
      const bar = rowsOf(bars, row, row + 1);
      if (row % 20 === 19) {
        const stands = await standsThough((signal) => session.push(disturbed(bar, row), { signal }));
        if (stands) await session.revise(bar);
        await session.update(row === 39 ? program : other);
        if (!stands) await session.revise(rowsOf(bars, row - 1, row));
        if (stands) continue;
      }
      const { table } = await session.push(bar);
      if (row < 19 || (row >= 39 && row < 59)) expectLines(table, lines.get(dayOf(row)), `row ${row}`);
    }
  });
});

describe("a replay with lost threads", () => {
  test.each([false, true])("gives the same bits (revised: %s)", async (revisable) => {
    const host = await startHost(2);
    const session = await openSession(host, program, { warmup: rowsOf(bars, 0, 0), revisable });
    for (let row = 0; row < 32; row++) {
      const bar = rowsOf(bars, row, row + 1);
      if (row % 8 === 2) setImmediate(() => host.pool.restartExecutor(row % 2));
      if (revisable) await session.push(disturbed(bar, row), { params: params[(row * 7) % ROWS]! });
      if (row % 8 === 6) setImmediate(() => host.pool.restartExecutor(row % 2));
      const { table } = revisable
        ? await session.revise(bar, { params: params[row]! })
        : await session.push(bar, { params: params[row]! });
      expectLines(table, linesOfRow(row), `row ${row}, seed ${SEED}`);
    }
    await session.close();
    await host.pool.close();
  });
});

/** Aborts while the threads run: true if that was too late. */
async function standsThough(run: (signal: AbortSignal) => Promise<unknown>): Promise<boolean> {
  const controller = new AbortController();
  const running = run(controller.signal);
  setImmediate(() => controller.abort(new Error("enough")));
  return await running.then(
    () => true,
    (error: Error) => {
      expect(error.message).toBe("enough");
      return false;
    },
  );
}

describe("symbols", () => {
  test("that are added later have the bits of a history in which they were null", async () => {
    const { symbols } = bars;
    const late = symbols.filter((_, lane) => lane % 9 === 4);
    const early = symbols.filter((symbol) => !late.includes(symbol));
    const from = 90;
    const panel = without(bars, late, from);
    const fixed = { session: "close", minute: 5, lambda: 0.25 } as const;
    // Factors that are not null for nulls would show a symbol before it is added.
    const text = TEXT.replace(/missing = .*\n/, "");
    const lines = linesByTime(await engine.evaluate(programOf(text), panel, { params: fixed }));
    const groups = { sector: sectors(bars) };
    const time = bars.time;
    await using session = await engine.open(programOf(text), { symbols: early, groups, time, params: fixed });
    for (let row = 0; row < 150; row++) {
      if (row === from) await session.addSymbols(late);
      const { table } = await session.push(barOf(panel, row, session.symbols));
      expectLines(table, lines.get(dayOf(row)), `row ${row}`);
    }
  });

  test("of a bar may be some of them", async () => {
    await using session = await open();
    const reference = await open();
    const some = bars.symbols.filter((_, lane) => lane % 2 === 1);
    const gaps = without(
      rowsOf(bars, 0, 30),
      bars.symbols.filter((symbol) => !some.includes(symbol)),
      15,
      20,
    );
    for (let row = 0; row < 30; row++) {
      const isPart = row >= 15 && row < 20;
      const cells = gaps.present.subarray(row * gaps.laneCount, (row + 1) * gaps.laneCount);
      const { table } = await session.push(barOf(gaps, row, isPart ? some.toReversed() : session.symbols));
      const whole = await reference.push(rowsOf(gaps, row, row + 1));
      expect(table.numRows).toBe(cells.reduce((sum, one) => sum + one, 0));
      expectLines(table, linesByTime(whole.table).get(dayOf(row)), `row ${row}`);
    }
    await reference.close();
  });
});

/** The panel without the bars of symbols from one row up to another; without an end, before the first one. */
function without(panel: Panel, symbols: readonly string[], first: number, end?: number): Panel {
  const fields = new Map([...panel.fields].map(([name, values]) => [name, values.slice()]));
  const present = panel.present.slice();
  const [from, to] = end === undefined ? [0, first] : [first, end];
  for (const symbol of symbols) {
    const lane = panel.symbols.indexOf(symbol);
    for (let row = from; row < to; row++) {
      const cell = row * panel.laneCount + lane;
      present[cell] = 0;
      for (const values of fields.values()) values[cell] = Number.NaN;
    }
  }
  return { ...panel, fields: fields as unknown as Panel["fields"], present };
}

function sectors({ symbols, groups }: Panel): Record<string, string | null> {
  const { labels, codes } = groups.get("sector")!;
  return Object.fromEntries(symbols.map((symbol, lane) => [symbol, labels[codes[lane]!] ?? null]));
}
