import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { syntheticPanel } from "../../../src/bench/synthetic_panel.ts";
import { type Bar, compile, Engine } from "../../../src/index.ts";
import { openSession } from "../../../src/live/session/open_session.ts";
import { startHost } from "../../execution/real_formulas.ts";
import { linesOf, rowsOf } from "../real_session.ts";

/** What sessions owe to each other and to those who push. */

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(async () => {
  await engine.close();
});

const time = { name: "minute", type: { kind: "integer", bits: 64 } } as const;

describe("beside a burst of another session", () => {
  test("a row waits for a few of its rows, not for all", async () => {
    const rows = 240;
    const panel = syntheticPanel({ lanes: 500, rows, nullShare: 0 });
    const text = "a = ts_rank(correlation(rank(close), rank(volume), 9), 12)\nb = rank(ts_std(close, 17))";
    const program = compile(text, { fields: [...panel.fields.keys()] });
    const options = { warmup: rowsOf(panel, 0, 20), retainRows: 0 };
    await using first = await engine.openSession(program, options);
    await using second = await engine.openSession(program, options);
    for (const [bursting, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const from = bursting === first ? 20 : 130;
      let ended = 0;
      const burst = Array.from({ length: 110 }, async (_, row) => {
        await bursting.push(rowsOf(panel, from + row, from + row + 1));
        ended++;
      });
      const waited: number[] = [];
      for (let row = 0; row < 10; row++) {
        const before = ended;
        await other.push(rowsOf(panel, from + row, from + row + 1));
        waited.push(ended - before);
      }
      // Two or three, of which the threads had begun some.
      expect(Math.max(...waited), `${waited}`).toBeLessThan(12);
      expect(ended).toBeLessThan(110);
      await Promise.all(burst);
    }
  });
});

test("no push is refused for memory, however much the process takes and others have reserved", async () => {
  const host = await startHost(2);
  const program = compile("param p = 0\na = ts_mean(close, 3)\nb = ema(close, 4) when p == 1 priority 1", {
    fields: ["close"],
  });
  const options = { symbols: ["A", "B"], time, revisable: true, retainRows: 4 };
  const session = await openSession(host, program, options);
  const other = await openSession(host, program, options);
  const { budget } = host;
  const need = (bytes: number) => ({ bytes: { all: bytes }, held: [], remedy: "", lasts: true });
  const release = budget.reserve(need(budget.limitBytes - budget.usedBytes));
  const resident = vi.spyOn(process.memoryUsage, "rss").mockReturnValue(2 ** 45);
  try {
    expect(() => budget.expectRoom(need(1))).toThrow("E401");
    let minute = 0;
    const bar = (): Bar => ({ time: ++minute, fields: { close: [minute, -minute] } });
    for (let round = 0; round < 3; round++) {
      await session.push(bar());
      await session.push(bar(), { params: { p: 1 }, budgetMs: 0.001 });
      await session.revise({ time: minute, fields: { close: [0.5, null] } });
      await Promise.all(Array.from({ length: 5 }, () => session.push(bar(), { params: { p: round % 2 } })));
      const rows = await session.push([bar(), bar(), bar()]);
      expect(rows.table.numRows).toBe(6);
      await other.restore(await session.checkpoint());
      await other.push({ time: minute + 1, fields: { close: [1, 2] } });
    }
    expect(session.lastTime).toBe(BigInt(minute));
  } finally {
    resident.mockRestore();
    release();
    await session.close();
    await other.close();
    await host.pool.close();
  }
});

test("arrays of a bar, and its date, may change once it is pushed", async () => {
  const program = compile("a = ts_mean(close, 3) + rank(volume)\nb = group_mean(close, sector)", {
    fields: ["close", "volume"],
    groups: ["sector"],
  });
  const symbols = ["A", "B", "C"];
  await using fresh = await engine.openSession(program, { symbols });
  await using reused = await engine.openSession(program, { symbols });
  const [close, volume] = [new Float64Array(3), [0, 0, 0] as (number | null)[]];
  const [sector, own, at] = [["", "", ""] as (string | null)[], ["", "", ""], new Date(0)];
  const fill = (row: number) => {
    at.setTime(1000 * (row + 1));
    for (let lane = 0; lane < 3; lane++) {
      close[lane] = Math.sin(row * (lane + 2));
      volume[lane] = (row + lane) % 4 === 0 ? null : row * lane;
      sector[lane] = "xyz"[(row + lane) % 3]!;
      own[lane] = symbols[(row + lane) % 3]!;
    }
  };
  const bar = (): Bar => ({ time: at, fields: { close, volume }, groups: { sector }, symbols: own });
  const pushes = [];
  for (let row = 0; row < 12; row++) {
    fill(row);
    pushes.push(reused.push(row % 3 === 2 ? [bar()] : bar()));
  }
  fill(99);
  const tables = (await Promise.all(pushes)).map(({ table }) => linesOf(table));
  for (let row = 0; row < 12; row++) {
    fill(row);
    expect(tables[row]).toEqual(linesOf((await fresh.push(structuredClone(bar()))).table));
  }
});

test("whoever reads the symbols of many tables decodes each text once", async () => {
  const symbols = Array.from({ length: 50 }, (_, index) => `S${100 + index}`);
  const program = compile("a = close", { fields: ["close"] });
  await using session = await engine.openSession(program, { symbols, time });
  const bars = Array.from({ length: 1000 }, (_, row) => ({
    time: row,
    fields: { close: symbols.map(() => 1) },
  }));
  const rows = await Promise.all(bars.map((bar) => session.push(bar)));
  const dictionaries = rows.map(({ table }) => table.getChild("symbol")!.data[0]!.dictionary!);
  expect(new Set(dictionaries)).toHaveLength(1);
  expect(dictionaries[0]!.isMemoized).toBe(true);
  for (const { table } of rows) expect([...table.getChild("symbol")!]).toEqual(symbols);
});
