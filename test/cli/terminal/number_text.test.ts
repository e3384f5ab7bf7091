import { expect, test } from "vitest";
import { alignedNumbers, numberText, shareText } from "../../../src/cli/terminal/number_text.ts";

test.each([
  [0, "0"],
  [0.5, "0.5"],
  [-1 / 3, "-0.333333"],
  [0.0001, "0.0001"],
  [0.00009999999, "0.0001"],
  [0.0000123456789, "1.23457e-5"],
  [123_456, "123456"],
  [999_999.7, "1e6"],
  [1_824_755, "1.82476e6"],
  [5e-324, "4.94066e-324"],
  [Number.MAX_VALUE, "1.79769e308"],
  [Number.POSITIVE_INFINITY, "inf"],
  [Number.NEGATIVE_INFINITY, "-inf"],
  [null, "null"],
])("%d is shown as %s", (value, text) => {
  expect(numberText(value)).toBe(text);
});

test("decimal points stand below each other, what is no number at the right edge", () => {
  expect(alignedNumbers(["1", "-12.5", "0.125", "3e-7", "null", "-inf"])).toEqual([
    "  1    ",
    "-12.5  ",
    "  0.125",
    "  3e-7 ",
    "   null",
    "   -inf",
  ]);
  expect(alignedNumbers([])).toEqual([]);
  expect(alignedNumbers(["null"])).toEqual(["null"]);
});

test("a share is 0 % of nothing only, and 100 % of the whole only", () => {
  const shares = [0, 1, 100, 99_999, 100_000].map((part) => shareText(part, 100_000));
  expect(shares).toEqual(["0.0 %", "< 0.1 %", "0.1 %", "99.9 %", "100.0 %"]);
  expect(shareText(0, 0)).toBe("");
});
