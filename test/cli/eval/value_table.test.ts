import { describe, expect, test } from "vitest";
import { valueTable } from "../../../src/cli/eval/value_table.ts";

const FACTORS = ["momentum", "calm", "a_name_that_is_longer_than_a_narrow_terminal", "score"];
const COLUMNS = {
  time: { name: "date", type: { kind: "date" } },
  symbols: ["A", "BRK.B"],
  factors: FACTORS,
} as const;
const ROWS = [
  { time: 17_568n, lane: 0, values: Float64Array.of(0.5, Number.NaN, -1, 1) },
  { time: 17_569n, lane: 1, values: Float64Array.of(-0.25, Number.POSITIVE_INFINITY, 1e9, 2) },
];
const table = (width: number, factors: readonly string[] = FACTORS) =>
  valueTable(ROWS, { ...COLUMNS, factors }, false, width);

describe("a table of values", () => {
  test("has all factors where they fit", () => {
    expect(table(90)).toBe(
      [
        "date        symbol  momentum  calm  a_name_that_is_longer_than_a_narrow_terminal  score",
        "2018-02-06  A           0.5   null                                          -1        1",
        "2018-02-07  BRK.B      -0.25  null                                           1e9      2",
      ].join("\n"),
    );
  });

  test("counts those that do not fit", () => {
    expect(table(40)).toBe(
      [
        "date        symbol  momentum  calm",
        "2018-02-06  A           0.5   null",
        "2018-02-07  BRK.B      -0.25  null",
        "… 2 more factors: --select, --out",
      ].join("\n"),
    );
  });

  test.each([
    20, 33, 34, 40, 60, 80, 85, 86, 120,
  ])("of %d characters is no wider, if one factor fits", (width) => {
    const lines = table(width)
      .split("\n")
      .filter((line) => !line.startsWith("…"));
    const least = "2018-02-06  A           0.5 ".length;
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(Math.max(width, least));
  });

  test("cuts the name of the first factor rather than leave it out", () => {
    const [header] = table(40, ["a_name_that_is_longer_than_a_narrow_terminal"]).split("\n");
    expect(header).toBe("date        symbol  a_name_that_is_long…");
  });

  test("shows no control character of a name", () => {
    const names = { ...COLUMNS, symbols: ["A\n", "B\u001b[2J"], factors: ["a"] };
    expect(valueTable(ROWS, names, false, 80)).toMatch(/A\\u000a .*\n.*B\\u001b\[2J /);
  });
});
