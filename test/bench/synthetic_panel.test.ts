import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import type { Panel } from "../../src/panel.ts";

const panel = syntheticPanel({ lanes: 37, rows: 300, nullShare: 0 });

const field = ({ fields }: Panel, name: string) => fields.get(name) as Float64Array;

function digestOf({ fields }: Panel): string {
  const hash = createHash("sha256");
  for (const [name, values] of fields) hash.update(name).update(new Uint8Array(values.buffer));
  return hash.digest("hex").slice(0, 32);
}

describe("the made-up panel", () => {
  // Whoever follows the recipe in the module gets these.
  test("begins with the bars that the recipe gives", () => {
    const bars = [0, 1, 37].map((cell) => [...panel.fields].map(([name, values]) => [name, values[cell]]));
    expect(bars.map((bar) => Object.fromEntries(bar))).toEqual([
      {
        open: 57.2689,
        high: 57.5358,
        low: 56.7396,
        close: 56.9684,
        volume: 1460414,
        vwap: 57.0419,
        amount: 83304789.3466,
        cap: 45460783200,
      },
      {
        open: 66.902,
        high: 67.0131,
        low: 64.8893,
        close: 65.1912,
        volume: 852374,
        vwap: 65.7833,
        amount: 56071974.5542,
        cap: 55086563999.99999,
      },
      {
        open: 56.7903,
        high: 57.1155,
        low: 54.8311,
        close: 55.0348,
        volume: 104133,
        vwap: 55.5304,
        amount: 5782547.1432,
        cap: 43917770400,
      },
    ]);
  });

  test("has this digest over all fields", () => {
    expect(digestOf(panel)).toBe("b8a5cde7ff4de92b0c965d4c2fb1ff83");
  });

  test("keeps the order of a bar's prices, and prices at 1 at least", () => {
    const [low, high] = [field(panel, "low"), field(panel, "high")];
    for (const name of ["open", "close", "vwap"]) {
      expect(field(panel, name).every((price, cell) => low[cell]! <= price && price <= high[cell]!)).toBe(
        true,
      );
    }
    expect(field(panel, "close").every((price) => price >= 1)).toBe(true);
    const long = syntheticPanel({ lanes: 3, rows: 50_000, nullShare: 0 });
    expect(field(long, "close").every((price) => price >= 1 && price < 1e9)).toBe(true);
  });

  test("with more rows begins with the same rows", () => {
    const longer = syntheticPanel({ lanes: 37, rows: 310, nullShare: 0 });
    for (const [name, values] of panel.fields)
      expect(field(longer, name).subarray(0, values.length)).toEqual(values);
  });

  test("loses whole bars where nulls are asked for, and nothing else changes", () => {
    const holed = syntheticPanel({ lanes: 37, rows: 300, nullShare: 0.1 });
    const missing = holed.present.filter((isPresent) => isPresent === 0).length;
    expect(Math.abs(missing / holed.present.length - 0.1)).toBeLessThan(0.01);
    for (const [name, values] of holed.fields) {
      const expected = field(panel, name).map((value, cell) => (holed.present[cell] ? value : Number.NaN));
      expect(values).toEqual(expected);
    }
  });

  test("has eleven sectors in turn", () => {
    const { codes, labels } = panel.groups.get("sector")!;
    expect(labels).toHaveLength(11);
    expect([...codes.subarray(0, 13)]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1]);
  });
});
