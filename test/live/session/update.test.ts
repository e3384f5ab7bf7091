import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  compile,
  Engine,
  type LiveSession,
  type Panel,
  type Program,
  readPanel,
  type UpdateOptions,
} from "../../../src/index.ts";
import { WarmUp } from "../../../src/live/session/update.ts";
import { example, expectLines, linesByTime, rowsOf } from "../real_session.ts";

const ROWS = 260;

const BEFORE = `
  param session = "open"
  let moved = close / delay(close, 1) - 1
  mean = ts_mean(close, 7)
  smooth = ema(close, 5) + ema(ts_mean(close, 9), 30)
  total = ts_mean(cum_sum(moved), 6)
  gone = ts_std(volume, 11)
  when session == "close" { closing = ts_max(rank(close), 8) }`;

/** Some factors are the same, others new or changed; what is unbounded is in both programs. */
const AFTER = `
  param session = "open"
  param k = 2
  let moved = close / delay(close, 1) - 1
  mean = ts_mean(close, 7)
  smooth = ema(close, 5) * k + ts_std(ema(ts_mean(close, 9), 30), 12)
  total = ts_mean(cum_sum(moved), 16)
  linked = ts_corr(rank(close), rank(volume), 14)
  sectored = group_rank(ts_mean(moved, 10), sector)
  when session == "close" { closing = ts_max(rank(close), 9) }`;

let engine: Engine;
let bars: Panel;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
  const all = await readPanel(example("data/sp100_daily.csv.gz"), {
    groups: example("data/sp100_sectors.csv"),
  });
  bars = rowsOf(all, 500, 500 + ROWS);
});
afterAll(() => engine.close());

const programOf = (text: string) =>
  compile(text, { fields: [...bars.fields.keys()], groups: [...bars.groups.keys()] });
const dayOf = (row: number) =>
  new Date(Number(bars.time.values[row]) * 86_400_000).toISOString().slice(0, 10);
const params = { session: "close" };

type GivenParams = Readonly<Record<string, string>>;
type Lines = ReadonlyMap<string, string[]>;
const historyOf = async (program: Program, panel = bars): Promise<Lines> =>
  linesByTime((await engine.evaluate(program, panel, { params })).table);

async function pushAll(
  session: LiveSession,
  first: number,
  end: number,
  expected: Lines,
  given: GivenParams = params,
): Promise<void> {
  for (let row = first; row < end; row++) {
    const { table } = await session.push(rowsOf(bars, row, row + 1), { params: given });
    expectLines(table, expected.get(dayOf(row)), `row ${row}`);
  }
}

describe("an update", () => {
  test.each([60, 120, 240])("gives the bits of the whole history, with %i rows kept", async (retainRows) => {
    const [before, after] = [programOf(BEFORE), programOf(AFTER)];
    const [old, now] = [await historyOf(before), await historyOf(after)];
    await using session = await engine.openSession(before, {
      warmup: rowsOf(bars, 0, 20),
      params,
      retainRows,
    });
    await pushAll(session, 20, 190, old);
    const { rowCount, shortOfHistory } = await session.update(after);
    expect(rowCount).toBe(Math.min(190, retainRows));
    expect(shortOfHistory).toEqual({});
    await pushAll(session, 190, 225, now);
    await session.update(before);
    await pushAll(session, 225, ROWS, old);
  });

  test("goes on while rows are pushed", async () => {
    const [before, after] = [programOf(BEFORE), programOf(AFTER)];
    const [old, now] = [await historyOf(before), await historyOf(after)];
    await using session = await engine.openSession(before, {
      warmup: rowsOf(bars, 0, 100),
      params,
      retainRows: 90,
    });
    let row = 100;
    let isUpdated = false;
    const updating = session.update(after).then(() => {
      isUpdated = true;
    });
    let changes = 0;
    for (; row < ROWS; row++) {
      const { table } = await session.push(rowsOf(bars, row, row + 1), { params });
      const isNew = table.schema.names.includes("linked");
      expectLines(table, (isNew ? now : old).get(dayOf(row)), `row ${row}`);
      if (isNew) changes++;
      if (!isUpdated) await new Promise((resolve) => setTimeout(resolve, 1));
      if (row === ROWS - 10) await updating;
    }
    await updating;
    expect(changes).toBeGreaterThan(0);
  });

  test("restarts if the session is restored meanwhile", async () => {
    const [before, after] = [programOf(BEFORE), programOf(AFTER)];
    await using session = await engine.openSession(before, {
      warmup: rowsOf(bars, 0, 100),
      params,
      retainRows: 90,
    });
    const checkpoint = await session.checkpoint();
    // Other bars than those that come in their place.
    for (let row = 100; row < 140; row++) await session.push(rowsOf(bars, row + 100, row + 101), { params });
    const { run } = WarmUp.prototype;
    const warmingUp = vi.spyOn(WarmUp.prototype, "run").mockImplementationOnce(async function (
      this: WarmUp,
      end,
    ) {
      await run.call(this, end);
      await session.restore(checkpoint);
    });
    const { rowCount, shortOfHistory } = await session.update(after).finally(() => warmingUp.mockRestore());
    expect([rowCount, shortOfHistory]).toEqual([90, {}]);
    await pushAll(session, 100, 120, await historyOf(after));
  });

  test("recognises a recursive operator whose inputs are in another order", async () => {
    const old = "a = cum_sum(q * close)";
    const [before, after] = [old, `b = close + 1\n${old}`].map((text) => programOf(`param q = 2\n${text}`));
    await using session = await engine.openSession(before!, { warmup: rowsOf(bars, 0, 100), retainRows: 30 });
    expect(await session.update(after!)).toEqual({ rowCount: 30, shortOfHistory: {} });
    await pushAll(session, 100, 110, linesByTime((await engine.evaluate(after!, bars)).table), {});
  });

  test("to formulas that compute the same keeps the state", async () => {
    const [before, after] = [
      BEFORE,
      BEFORE.replaceAll("moved", "change").replace("mean =", "# of a week\nmean ="),
    ];
    const program = programOf(after);
    await using session = await engine.openSession(programOf(before), {
      warmup: rowsOf(bars, 0, 100),
      retainRows: 30,
      params,
    });
    expect(await session.update(program)).toEqual({ rowCount: 0, shortOfHistory: {} });
    await pushAll(session, 100, 104, await historyOf(program));
  });

  test("hands carried values over at the switch, where windows of the kept rows are full too late", async () => {
    // Parts begin with rows 70, 80 and 90; the mean is exact from row 94 on.
    const text = "smooth = ema(ts_mean(close, 25), 5)";
    const [before, after] = [programOf(text), programOf(`${text}\nother = -close`)];
    await using session = await engine.openSession(before, { warmup: rowsOf(bars, 0, 100), retainRows: 30 });
    expect(await session.update(after)).toEqual({ rowCount: 30, shortOfHistory: {} });
    await pushAll(session, 100, 103, linesByTime((await engine.evaluate(after, bars)).table), {});
  });

  test("from too few rows is as a session that began with them", async () => {
    const [before, after] = [
      programOf("mean = ts_mean(close, 7)"),
      programOf("mean = ts_mean(close, 9)\nnew = ema(close, 20)\nfar = ts_mean(close, 40)"),
    ];
    await using session = await engine.openSession(before, { warmup: rowsOf(bars, 0, 100), retainRows: 30 });
    const report = await session.update(after);
    expect(report).toEqual({ rowCount: 30, shortOfHistory: { new: Number.POSITIVE_INFINITY, far: 9 } });
    const { table: cold } = await engine.evaluate(after, rowsOf(bars, 70, ROWS));
    await pushAll(session, 100, 120, linesByTime(cold), {});
  });

  test("that fails changes nothing; the newest row may be revised after one that succeeds", async () => {
    const [before, after] = [programOf(BEFORE), programOf(AFTER)];
    const now = await historyOf(after);
    const options = { params, revisable: true, retainRows: 48 };
    await using session = await engine.openSession(before, { warmup: rowsOf(bars, 0, 50), ...options });
    await expect(session.update(after, { select: ["none"] })).rejects.toMatchObject({ code: "E506" });
    await expect(session.update(after, { params: { kk: 1 } })).rejects.toMatchObject({ code: "E506" });
    const misspelt = { selects: [] } as UpdateOptions;
    await expect(session.update(after, misspelt)).rejects.toThrow("E527 unknown option selects of update");
    await pushAll(session, 50, 51, await historyOf(before));
    await session.update(after);
    const provisional = rowsOf(bars, 49, 50);
    const time = { ...provisional.time, values: bars.time.values.subarray(50, 51) };
    await session.revise({ ...provisional, time }, { params });
    const { table } = await session.revise(rowsOf(bars, 50, 51), { params });
    expectLines(table, now.get(dayOf(50)), "revised");
    await pushAll(session, 51, 55, now);
  });
});

test("a bar that is revised after a push that was aborted at any moment counts in an update", async () => {
  const text = "smooth = ts_mean(ema(close, 5), 2)";
  const [first, second] = [`${text}\nother = close`, `${text}\nother = -close`].map((formulas) =>
    compile(formulas, { fields: ["close"] }),
  );
  // A part begins with every row: carried values are kept before each.
  const options = { symbols: ["A"], revisable: true, retainRows: 3 };
  let cutCount = 0;
  for (let moment = 0; moment < 40; moment++) {
    await using session = await engine.openSession(first!, options);
    const push = (time: number, x: number, signal?: AbortSignal) =>
      session.push({ time, fields: { close: [x] } }, { signal });
    for (let time = 1; time <= 5; time++) await push(time, time);
    const controller = new AbortController();
    const cut = push(6, 6, controller.signal).then(
      () => false,
      () => true,
    );
    for (let turn = 0; turn < moment; turn++) await null;
    controller.abort();
    const isCut = await cut;
    if (isCut) cutCount++;
    const newest = isCut ? 5 : 6;
    await session.revise({ time: newest, fields: { close: [100] } });
    await push(7, 7);
    await session.update(second!);
    const { table } = await push(8, 8);
    const values = [...[1, 2, 3, 4, 5, 6].slice(0, newest - 1), 100, 7, 8];
    await using whole = await engine.openSession(second!, options);
    const bars = values.map((x, index) => ({ time: index + 1, fields: { close: [x] } }));
    const expected = await whole.push(bars);
    expect(table.getChild("smooth")!.get(0), `aborted after ${moment} turns`).toBe(
      [...expected.table.getChild("smooth")!].at(-1),
    );
  }
  expect(cutCount).toBeGreaterThan(0);
});

test("a revision that is aborted at any moment after an update leaves the row as it was, or replaces it", async () => {
  const text = "sum = ts_sum(close, 2)";
  const [first, second] = [text, `${text}\nother = -close`].map((formulas) =>
    compile(formulas, { fields: ["close"] }),
  );
  let cutCount = 0;
  for (let moment = 0; moment < 40; moment++) {
    await using session = await engine.openSession(first!, { symbols: ["A"], revisable: true });
    const barOf = (time: number, x: number) => ({ time, fields: { close: [x] } });
    await session.push([barOf(1, 1), barOf(2, 2)]);
    await session.update(second!);
    const controller = new AbortController();
    const { signal } = controller;
    const ahead = moment % 2 === 0 ? session.checkpoint() : null;
    const revising = session.revise(barOf(2, 100), { signal }).then(
      () => 100,
      () => 2,
    );
    for (let turn = 0; turn < moment; turn++) await null;
    controller.abort();
    const newest = await revising;
    await ahead;
    if (newest === 2) cutCount++;
    const { table } = await session.push(barOf(3, 3));
    expect(table.getChild("sum")!.get(0), `aborted after ${moment} turns`).toBe(newest + 3);
  }
  expect(cutCount).toBeGreaterThan(0);
});
