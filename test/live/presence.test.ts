import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile, Engine } from "../../src/index.ts";
import { panelOf } from "../panels.ts";
import { linesOf } from "./real_session.ts";

/** Which symbols count across the row of a session: those that a bar brings a value for, whatever formulas read. */

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(async () => await engine.close());

const programOf = (text: string) => compile(text, { fields: ["close", "volume", "mkt"], groups: ["sector"] });
const RANK = "a = rank(coalesce(close, 0))";
const SYMBOLS = ["A", "B", "C"];

describe("symbols of a bar", () => {
  test.each([
    ["it has no value for", { fields: { close: [1, 2, null] } }, [0.5, 1, null]],
    [
      "it has a value for in a field that no formula reads",
      { fields: { close: [1, 2, null], volume: [5, 5, 7] } },
      [2 / 3, 1, 1 / 3],
    ],
    ["it names", { symbols: SYMBOLS, fields: { close: [1, 2, null] } }, [2 / 3, 1, 1 / 3]],
  ])("that %s", async (_, bar, expected) => {
    await using session = await engine.openSession(programOf(RANK), { symbols: SYMBOLS });
    const { table } = await session.push({ time: 1, ...bar });
    expect([...table.getChild("a")!]).toEqual(expected);
  });

  test("that it does not name", async () => {
    await using session = await engine.openSession(
      programOf("a = rank(delay(close, 1))\nb = rank(is_null(close))"),
      {
        symbols: SYMBOLS,
        spareSymbols: 0,
      },
    );
    await session.push({ time: 1, fields: { close: [3, 2, 1] } });
    const { table } = await session.push({ time: 2, symbols: ["A", "C"], fields: { close: [5, 5] } });
    expect([...table.getChild("a")!]).toEqual([1, 0.5]);
    expect([...table.getChild("b")!]).toEqual([0.75, 0.75]);
  });

  test("an update replays them", async () => {
    await using session = await engine.openSession(programOf("a = close"), { symbols: SYMBOLS });
    await session.push({ time: 1, fields: { close: [1, 2, null] } });
    await session.push({ time: 2, symbols: ["A"], fields: { close: [1] } });
    await session.update(
      programOf("a = delay(rank(coalesce(close, 0)), 2)\nb = delay(group_count(1, sector), 1)"),
    );
    const { table } = await session.push({
      time: 3,
      fields: { close: [1, 2, 3] },
      groups: { sector: ["x", "x", "x"] },
    });
    expect([...table.getChild("a")!]).toEqual([0.5, 1, null]);
  });
});

describe("fields that are the same for all symbols", () => {
  const warmup = () => {
    const panel = panelOf({
      close: [
        [1, 2, null],
        [3, 4, null],
      ],
      mkt: [
        [1, 1, 1],
        [2, 2, 2],
      ],
    });
    panel.present.set([0], 2);
    panel.present.set([0], 5);
    return { ...panel, seriesNames: ["mkt"] };
  };

  test("count for no symbol, also after a checkpoint", async () => {
    const program = programOf("a = rank(mkt)\nb = ts_sum(mkt, 3)");
    await using session = await engine.openSession(program, { warmup: warmup() });
    const checkpoint = await session.checkpoint();
    await using restored = await engine.openSession(program, { checkpoint });
    const bar = { time: 2n, fields: { close: [5, 6, null], mkt: [3, 3, 3] } };
    for (const one of [session, restored]) {
      const { table } = await one.push(bar);
      expect([...table.getChild("a")!]).toEqual([0.75, 0.75, null]);
      expect([...table.getChild("b")!]).toEqual([6, 6, 6]);
    }
  });

  test("have their value for symbols that a bar lacks and for those that come later, as in history", async () => {
    const market = [1, 2, 4, 8, 16];
    const historyOf = (rows: number, lanes: readonly number[]) => {
      const mkt = market.slice(0, rows).map((one) => lanes.map(() => one));
      const close = mkt.map((_, row) => lanes.map((lane) => (row < [0, 3, 4][lane]! ? null : row)));
      const panel = panelOf({ close, mkt });
      panel.present.set(close.flat().map((one) => (one === null ? 0 : 1)));
      return { ...panel, seriesNames: ["mkt"] };
    };
    const program = programOf("a = ts_sum(mkt, 3) + close\nb = rank(mkt)\nc = ts_sum(mkt, 2)");
    const expected = linesOf((await engine.evaluate(program, historyOf(5, [0, 1, 2]))).table).slice(2);
    const warmup = historyOf(2, [0]);
    await using session = await engine.openSession(program, { warmup, symbols: ["L0", "L1"] });
    const lines: string[] = [];
    const push = async (row: number, symbols: readonly string[]) => {
      const mkt = symbols.map((_, index) => (index === 0 ? market[row]! : null));
      const bar = { time: row, symbols, fields: { close: symbols.map(() => row), mkt } };
      lines.push(...linesOf((await session.push(bar)).table));
    };
    await push(2, ["L0"]);
    await push(3, ["L1", "L0"]);
    await session.addSymbols(["L2"]);
    await push(4, ["L0", "L1", "L2"]);
    expect(lines).toEqual(expected);
    const bar = { time: 5, fields: { close: [1, 2, 3], mkt: [1, null, 2] } };
    await expect(session.push(bar)).rejects.toThrow("E383 mkt holds 2, not 1, its value for other symbols");
  });
});
