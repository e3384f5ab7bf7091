import { expect, test } from "vitest";
import { alignedNumbers, numberText } from "../../../src/cli/terminal/number_text.ts";

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
