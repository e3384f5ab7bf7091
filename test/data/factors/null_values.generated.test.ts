/** What stands in the values of a result under its nulls, however the result is made. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type RecordBatch, tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, Engine, type Panel, writeTable } from "../../../src/index.ts";
import { panelOf } from "../../panels.ts";
import { bitsOf } from "../../support/bits.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";

let engine: Engine;
const folder = fileFolder();
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(() => engine.close());

const FACTORS = ["mean", "raw", "ratio", "ranked", "closing"];
const program = compile(
  `param session = "open"
  mean = ts_mean(close, 2)
  raw = close
  ratio = close / volume
  ranked = rank(volume)
  when session == "close" { closing = delay(close, 1) }`,
  { fields: ["close", "volume"] },
);

const NULL_BITS = 0x7ff8000000000000n;

/** Counts of nulls and of values; each null must have the bits of the one NaN, each value be a number. */
function checkNulls(
  batches: Iterable<RecordBatch>,
  isInfinityKept: boolean,
): [nulls: number, values: number] {
  const counts: [number, number] = [0, 0];
  const wrong: string[] = [];
  for (const batch of batches) {
    for (const name of FACTORS) {
      const column = batch.getChild(name)!;
      bitsOf(column.toArray() as Float64Array).forEach((bits, row) => {
        const value: number | null = column.get(row);
        counts[value === null ? 0 : 1]++;
        const isRight =
          value === null
            ? bits === NULL_BITS
            : Number.isFinite(value) || (isInfinityKept && !Number.isNaN(value));
        if (!isRight) wrong.push(`${name} of row ${row}: ${value}, ${bits.toString(16)}`);
      });
    }
  }
  expect(wrong).toEqual([]);
  return counts;
}

/** Bars with nulls, NaNs of odd bits, infinities and absent instruments. */
function drawnBars({ below, uniform }: Seeded): Panel {
  const [rows, lanes] = [1 + below(9), 1 + below(20)];
  const cell = () => [null, 0, Number.POSITIVE_INFINITY, -uniform()][below(9)] ?? uniform();
  const column = () => Array.from({ length: rows }, () => Array.from({ length: lanes }, cell));
  const panel = panelOf({ close: column(), volume: column() });
  for (let cell = 1; cell < rows * lanes; cell++) {
    if (below(6) > 0) continue;
    panel.present[cell] = 0;
    for (const values of panel.fields.values()) values[cell] = Number.NaN;
  }
  const close = panel.fields.get("close")!;
  const bits = new BigUint64Array(close.buffer);
  for (const [cell, value] of close.entries())
    if (Number.isNaN(value) && below(2)) bits[cell] = 0xfff8000000000001n;
  return panel;
}

test("close 5, null, 7, 8 has a mean of two rows whose array is NaN, NaN, NaN, 7.5", async () => {
  const bars = panelOf({ close: [[5], [null], [7], [8]] });
  const formulas = compile("m = ts_mean(close, 2)", { fields: ["close"] });
  const { table } = await engine.evaluate(formulas, bars);
  expect([...table.getChild("m")!.toArray()]).toEqual([Number.NaN, Number.NaN, Number.NaN, 7.5]);
  await using session = await engine.openSession(formulas, { symbols: bars.symbols, time: bars.time });
  const row = await session.push(bars);
  expect([...row.table.getChild("m")!.toArray()]).toEqual([Number.NaN, Number.NaN, Number.NaN, 7.5]);
});

test("one NaN stands under every null of histories, streams, many calls, rows of sessions and Arrow files", async () => {
  const seeded = new Seeded();
  const totals = [0, 0];
  for (let trial = 0; trial < trials(8, 200); trial++) {
    const bars = drawnBars(seeded);
    const keepInfinite = seeded.below(2) === 1;
    const params = { session: seeded.below(2) === 1 ? "open" : "close" };
    const options = { keepInfinite, params };
    const { table } = await engine.evaluate(program, bars, options);
    const expected = checkNulls(table.batches, keepInfinite);
    const streamed = await Array.fromAsync(engine.stream(program, bars, { ...options, blockRows: 3 }));
    expect(checkNulls(streamed, keepInfinite)).toEqual(expected);
    for await (const one of engine.evaluateMany(program, bars, [{ params }], { keepInfinite }))
      expect(checkNulls(one.batches, keepInfinite)).toEqual(expected);
    const file = join(folder, "nulls.arrow");
    await writeTable(table, file);
    expect(checkNulls(tableFromIPC(readFileSync(file)).batches, keepInfinite)).toEqual(expected);
    await using session = await engine.openSession(program, {
      symbols: bars.symbols,
      time: bars.time,
      keepInfinite,
    });
    const { table: pushed } = await session.push(bars, { params });
    expect(checkNulls(pushed.batches, keepInfinite)).toEqual(expected);
    expected.forEach((count, kind) => {
      totals[kind]! += count;
    });
  }
  expect(Math.min(...totals), `SEED=${seeded.seed}`).toBeGreaterThan(0);
});
