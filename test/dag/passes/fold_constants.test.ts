import { describe, expect, test } from "vitest";
import { compile } from "../../../src/compile.ts";
import { numberText } from "../../../src/dag/dag.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { dagOf } from "../graphs.ts";
import { testGolden } from "./golden.ts";

/** The number that a factor is, as text. */
function numberOf(formula: string): string | undefined {
  const [only, ...others] = dagOf(`a = ${formula}`).tasks;
  return only?.kind === "number" && others.length === 0 ? numberText(only.value) : undefined;
}

describe("fold_constants", () => {
  testGolden("fold_constants", [
    "a = close * (2 * 3 - 1)\nb = 5 + close",
    "a = 2 > 1 && !(3 < 2) ? close : open",
    "param p = 2\na = close * (p * 2) + 2 * 2",
    "a = ts_sum(2 * 3, 5) + rank(1 + 1) + ema(0.5 * 2, 3)",
    "a = close == null + 1",
  ]);

  test.each([
    ["-0", "-0"],
    ["0 * -1", "-0"],
    ["0 - 0", "0"],
    ["1 / -0", "-Infinity"],
    ["0 / 0", "null"],
    ["coalesce(log(-1), 7)", "7"],
    ["null > 1", "null"],
    ["0.1 + 0.2", "0.30000000000000004"],
    ["2 ^ 0.5", "1.4142135623730951"],
    ["1 < 2", "1"],
  ])("%s is %s", (formula, value) => {
    expect(numberOf(formula)).toBe(value);
  });

  test("what a reference cannot do is said when the formula is compiled", () => {
    const picky = defineOperator({
      name: "picky",
      axis: "elementwise",
      parameters: [{ name: "x", kind: "series" }],
      result: "series",
      unit: "other",
      summary: "Takes no number above 1.",
      nulls: "Null if the value is null.",
      source: "made up",
      costNs: () => 1,
      nullWhere: {},
      reference: (x) => {
        if (x > 1) throw new RangeError("too large");
        return x;
      },
      examples: [{ formula: "picky(x)", inputs: { x: [1, null] }, output: [1, null] }],
    });
    expect(() => compile("a = picky(2)", { operators: [picky] })).toThrow("E515 operator picky fails on 2");
  });
});
