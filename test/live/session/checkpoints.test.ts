import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, Engine, panelFrom } from "../../../src/index.ts";
import type { InputRow } from "../../../src/live/input/bars.ts";
import { retentionFor } from "../../../src/state/history.ts";
import { RetainedRows } from "../../../src/state/retained_rows.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { linesOf } from "../real_session.ts";

let engine: Engine;
const folder = fileFolder();
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(async () => {
  await engine.close();
});

const program = compile(
  "a = ts_sum(close, 3)\nb = ema(close, 4)\nc = rank(close)\nd = cum_sum(close > 2 ? 1 : 0.5)",
  {
    fields: ["close"],
  },
);
const time = { name: "time", type: { kind: "integer", bits: 64 } } as const;
const barOf = (row: number, symbols: readonly string[]) => ({
  time: row,
  symbols,
  fields: { close: symbols.map((_, lane) => ((row * 7 + lane * 3) % 11) / 3) },
});

test("a checkpoint is of the rows before its call, however many rows overwrite them while it is written", async () => {
  const symbols = ["B", "A"];
  const path = join(folder, "beside");
  await using session = await engine.openSession(program, { symbols, time, retainRows: 20 });
  for (let row = 0; row < 25; row++) await session.push(barOf(row, symbols));
  const saving = session.checkpoint(path);
  const later: string[][] = [];
  for (let row = 25; row < 70; row++) later.push(linesOf((await session.push(barOf(row, symbols))).table));
  await saving;
  const segments = readdirSync(path).length - 1;
  await using again = await engine.openSession(program, { checkpoint: path, retainRows: 20 });
  expect(again.lastTime).toBe(24n);
  expect(again.shortOfHistory).toEqual({});
  for (let row = 25; row < 70; row++)
    expect(linesOf((await again.push(barOf(row, symbols))).table)).toEqual(later[row - 25]);
  await again.checkpoint(path);
  expect(readdirSync(path).length - 1).toBe(segments);
  await session.restore(path);
  expect(session.lastTime).toBe(69n);
});

test("symbols that are new after a checkpoint were absent in all rows before, in any order", async () => {
  const path = join(folder, "wider");
  const first = ["M", "C"];
  const all = ["D", "M", "A", "C"];
  const bars = Array.from({ length: 12 }, (_, row) => barOf(row, row < 6 ? first : all));
  const records = bars.flatMap(({ time: at, symbols, fields }) =>
    symbols.map((symbol, lane) => ({ time: at, symbol, close: fields.close[lane]! })),
  );
  const panel = await panelFrom(records);
  const expected = linesOf((await engine.evaluate(program, panel)).table);
  await using session = await engine.openSession(program, { symbols: first, time, spareSymbols: 0 });
  const found = linesOf((await session.push(bars.slice(0, 6))).table);
  await session.checkpoint(path);
  for (const spareSymbols of [0, 30]) {
    await using later = await engine.openSession(program, { checkpoint: path, symbols: all, spareSymbols });
    expect(later.symbols).toEqual(all);
    const lines = linesOf((await later.push(bars.slice(6))).table);
    expect([...found, ...lines]).toEqual(expected);
  }
  await using wide = await engine.openSession(program, { symbols: all, time });
  await wide.restore(path);
  expect(new Set(wide.symbols)).toEqual(new Set(all));
  expect([...found, ...linesOf((await wide.push(bars.slice(6))).table)]).toEqual(expected);
});

test("rows that are held stay as they are until they are released", () => {
  const rows = new RetainedRows<InputRow>({ rows: 4, pointRows: 64 }, 3);
  const push = (value: number) =>
    rows.append(
      {
        time: BigInt(value),
        lanes: Int32Array.of(0, 2),
        present: null,
        saysSymbols: true,
        fields: new Map([["close", [value, -value]]]),
        groups: new Map(),
      },
      new Map(),
    );
  for (let value = 0; value < 6; value++) push(value);
  const held = rows.hold([]);
  for (let value = 6; value < 20; value++) push(value);
  expect(held.firstRow).toBe(2);
  expect(held.rows.map(({ time: at }) => at)).toEqual([2n, 3n, 4n, 5n]);
  expect(held.rows.map(({ fields }) => [...fields.get("close")!])).toEqual(
    [2, 3, 4, 5].map((value) => [value, Number.NaN, -value]),
  );
  held.release();
  const [slot] = rows.hold([]).rows;
  expect([...slot!.present!]).toEqual([1, 0, 1]);
});

test.each([
  [
    "alpha101: windows alone",
    { lookbackRows: 251, recursions: 0, recursive: 0 },
    undefined,
    256,
    Number.POSITIVE_INFINITY,
  ],
  [
    "long windows alone",
    { lookbackRows: 4799, recursions: 0, recursive: 0 },
    undefined,
    4800,
    Number.POSITIVE_INFINITY,
  ],
  [
    "few values carried: points are 64 rows apart",
    { lookbackRows: 250, recursions: 3, recursive: 12 },
    undefined,
    443,
    64,
  ],
  ["many values carried", { lookbackRows: 1000, recursions: 1, recursive: 400 }, undefined, 1001 + 283, 283],
  ["as wanted", { lookbackRows: 10, recursions: 1, recursive: 1 }, 90, 90, 30],
])("rows kept for %s", (_, need, wanted, rows, pointRows) => {
  expect(retentionFor({ ...need, fields: 5 }, wanted)).toEqual({ rows, pointRows });
});
