import { expect, test } from "vitest";
import { fittingTable } from "../../../src/cli/terminal/text_table.ts";

const header = ["factor", "nulls", "formula", "place"];
const rows = [
  ["alpha001", 1_234, "  correlation(rank(volume), rank(vwap), 5)", "108:38"],
  ["b", 5, "close", "9:1"],
];
const widthOf = (table: string) => Math.max(...table.split("\n").map((line) => line.length));

test("a table that fits is whole", () => {
  const table = fittingTable(header, rows, { width: Number.POSITIVE_INFINITY, cut: 2, leastWanted: [1] });
  expect(table.split("\n")).toEqual([
    "factor    nulls  formula                                     place",
    "alpha001  1,234    correlation(rank(volume), rank(vwap), 5)  108:38",
    "b             5  close                                       9:1",
  ]);
  expect(fittingTable(header, rows, { width: widthOf(table), cut: 2, leastWanted: [1] })).toBe(table);
});

test("texts of one column are cut before columns are left out", () => {
  const table = fittingTable(header, rows, { width: 50, cut: 2, leastWanted: [1] });
  expect(table.split("\n")).toEqual([
    "factor    nulls  formula                    place",
    "alpha001  1,234    correlation(rank(vol...  108:38",
    "b             5  close                      9:1",
  ]);
});

test("any width holds in which the name, a gap and twenty characters fit", () => {
  for (let width = 0; width < 80; width++) {
    const table = fittingTable(header, rows, { width, cut: 2, leastWanted: [1, 3] });
    expect(widthOf(table)).toBeLessThanOrEqual(Math.max(width, 8 + 2 + 20));
    expect(table).toMatch(/^alpha001 .* corr/m);
  }
});

test("a table without rows has its header", () => {
  expect(fittingTable(header, [], { width: 10, cut: 2, leastWanted: [1, 3] })).toBe("factor  formula");
});

test("a table may have more rows than a call has arguments", () => {
  const rows = Array.from({ length: 130_000 }, (_, row) => [row % 10]);
  const table = fittingTable(["x"], rows, { width: 80, leastWanted: [] });
  expect(table.split("\n")).toHaveLength(130_001);
});
