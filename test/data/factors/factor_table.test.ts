import { DateDay, Int32, Int64, Timestamp, TimeUnit } from "apache-arrow";
import { describe, expect, test } from "vitest";
import type { Panel, TimeType } from "../../../src/panel.ts";
import { factorTable } from "../../support/factor_table.ts";
import { messageOf } from "../scratch.ts";

/** A panel of the given days and symbols; `gaps` lists the cells without a row of input. */
function panelOf(
  times: readonly bigint[],
  symbols: readonly string[],
  gaps: readonly number[] = [],
  type: TimeType = { kind: "date" },
): Panel {
  const present = new Uint8Array(times.length * symbols.length).fill(1);
  for (const cell of gaps) present[cell] = 0;
  return {
    rowCount: times.length,
    laneCount: symbols.length,
    time: { name: "Day", type, values: BigInt64Array.from(times) },
    symbols,
    fields: new Map(),
    groups: new Map(),
    present,
  };
}

const PANEL = panelOf([10n, 11n, 13n], ["A", "B"], [1, 4]);

describe("factorTable", () => {
  test("has the times, the symbols and the factors of the cells that the input has", async () => {
    const { table } = await factorTable(PANEL, [{ name: "x", values: Float64Array.of(0, 1, 2, 3, 4, 5) }]);
    expect(table.schema.fields.map(String)).toEqual([
      "Day: Date32<DAY>",
      "symbol: Dictionary<Int32, Utf8>",
      "x: Float64",
    ]);
    expect(table.schema.fields.map((field) => field.nullable)).toEqual([false, false, true]);
    const rows = table.toArray().map((row) => [Number(row?.Day) / 86_400_000, row?.symbol, row?.x]);
    expect(rows).toEqual([
      [10, "A", 0],
      [11, "A", 2],
      [11, "B", 3],
      [13, "B", 5],
    ]);
  });

  test("makes NaN null and counts nulls and infinities of the output only", async () => {
    const values = Float64Array.of(Number.NaN, Infinity, -Infinity, 3, Infinity, Number.NaN);
    const factors = [{ name: "x", values }];
    const dropped = await factorTable(PANEL, factors);
    expect([...dropped.table.getChild("x")!]).toEqual([null, null, 3, null]);
    expect(dropped.nullCounts).toEqual(new Map([["x", 3]]));
    expect(dropped.nonFiniteCounts).toEqual(new Map([["x", 1]]));
    expect(dropped.table.schema.fields[2]!.metadata).toEqual(new Map([["nonFinite", "1"]]));
    const kept = await factorTable(PANEL, factors, { keepInfinite: true });
    expect([...kept.table.getChild("x")!]).toEqual([null, -Infinity, 3, null]);
    expect(kept.nullCounts).toEqual(new Map([["x", 2]]));
    expect(kept.nonFiniteCounts).toEqual(new Map([["x", 1]]));
  });

  test("leaves a factor that was not wanted null", async () => {
    const { table, nullCounts, nonFiniteCounts } = await factorTable(PANEL, [{ name: "x", values: null }]);
    expect([...table.getChild("x")!]).toEqual([null, null, null, null]);
    expect([nullCounts.get("x"), nonFiniteCounts.get("x")]).toEqual([4, 0]);
  });

  test("reads shared memory and leaves it as it is", async () => {
    const values = new Float64Array(new SharedArrayBuffer(48)).fill(7);
    const { table } = await factorTable(PANEL, [{ name: "x", values }]);
    values.fill(8);
    expect([...table.getChild("x")!]).toEqual([7, 7, 7, 7]);
  });

  test.each<[TimeType, unknown]>([
    [{ kind: "date" }, new DateDay()],
    [{ kind: "timestamp", unit: "s", timezone: null }, new Timestamp(TimeUnit.SECOND, null)],
    [
      { kind: "timestamp", unit: "ns", timezone: "Asia/Tokyo" },
      new Timestamp(TimeUnit.NANOSECOND, "Asia/Tokyo"),
    ],
    [{ kind: "integer", bits: 32 }, new Int32()],
    [{ kind: "integer", bits: 64 }, new Int64()],
  ])("keeps the type of the time: %o", async (type, arrowType) => {
    const { table } = await factorTable(panelOf([1n, 2n], ["A"], [], type), []);
    expect(table.schema.fields[0]!.type).toEqual(arrowType);
    const values = [...table.getChildAt(0)!.data[0]!.values].map(BigInt);
    expect(values).toEqual([1n, 2n]);
  });

  test("cuts large tables into record batches of whole panel rows with one dictionary", async () => {
    const times = Array.from({ length: 1000 }, (_, row) => BigInt(row));
    const symbols = Array.from({ length: 200 }, (_, lane) => `S${1000 + lane}`);
    const values = Float64Array.from({ length: 200_000 }, (_, cell) => cell);
    const { table } = await factorTable(panelOf(times, symbols), [{ name: "x", values }]);
    expect(table.batches.map((batch) => batch.numRows)).toEqual([65_400, 65_400, 65_400, 3800]);
    expect(table.getChild("x")!.get(199_999)).toBe(199_999);
    expect(table.getChild("symbol")!.get(199_999)).toBe("S1199");
    expect(new Set(table.getChild("symbol")!.data.map((data) => data.dictionary)).size).toBe(1);
  });

  test("refuses factors with the name of a key column", async () => {
    expect(await messageOf(() => factorTable(PANEL, [{ name: "DAY", values: null }]))).toMatchInlineSnapshot(`
      "DataError: E314 the factor "DAY" has the name of the output column "Day"
        rename the factor"
    `);
    expect(
      await messageOf(() => factorTable(PANEL, [{ name: "Symbol", values: null }])),
    ).toMatchInlineSnapshot(`
      "DataError: E314 the factor "Symbol" has the name of the output column "symbol"
        rename the factor"
    `);
  });
});
