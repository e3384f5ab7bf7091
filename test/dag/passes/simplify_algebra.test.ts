import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../../operators/index.ts";
import { compile, finalDag } from "../../../src/compile.ts";
import { canonicalOrder } from "../../../src/dag/passes/canonical_order.ts";
import { removeDeadTasks } from "../../../src/dag/passes/remove_dead_tasks.ts";
import { simplifyAlgebra } from "../../../src/dag/passes/simplify_algebra.ts";
import { printDag } from "../../../src/dag/print.ts";
import { WINDOW_ROWS_MAX } from "../../../src/limits.ts";
import { countTasks, printed } from "../graphs.ts";
import { testGolden } from "./golden.ts";

describe("simplify_algebra", () => {
  testGolden("simplify_algebra", [
    "a = -(-close) / 4",
    "a = -1 * (close - -open) * 1",
    "a = close ^ 2 + abs(-close) ^ 3",
    "a = !(close < open) ? 1 : 0\nb = close >= open",
    "a = !(close > 1) && !(open > 1) || close > 2 && close > 2",
    "a = delay(delay(delay(close, 1), 2), 3)\nb = ts_max(ts_max(close, 3), 4)",
    "a = 1 > 2 ? ts_mean(close, 20) : open",
    "a = rank(rank(close)) + ts_mean(open, 1)",
  ]);

  test.each([
    ["x + 0: -0 + 0 is 0", "a = close + 0"],
    ["x - x: null for infinities", "a = close - close"],
    ["0 * x: null for infinities, and -0 for negative numbers", "a = 0 * close"],
    ["x / x: null for 0", "a = close / close"],
    ["x / 3: 1/3 is rounded", "a = close / 3"],
    ["x / 2^-1074: it has no reciprocal", "a = close / 5e-324"],
    ["x == x: null for null", "a = close == close"],
    ["c ? x : x: null where the condition is", "a = close > 1 ? open : open"],
    ["-(x - y): its zeros have another sign", "a = -(close - open)"],
    ["round(round(x)): -0 rounds to 0", "a = round(round(close))"],
    ["sums in another order", "a = close + open - open"],
    ["windows with min_periods", "a = ts_max(ts_max(close, 3, min_periods=1), 4, min_periods=2)"],
  ])("leaves %s", (_, text) => {
    expect(printed(text)).toBe(printed(text, "simplify_algebra"));
  });

  test("makes no window longer than formulas may have", () => {
    const delays = (a: number, b: number) => countTasks(`a = delay(delay(close, ${a}), ${b})`)["delay"];
    expect([delays(WINDOW_ROWS_MAX - 7, 7), delays(WINDOW_ROWS_MAX - 7, 8)]).toEqual([1, 2]);
  });

  test("what it makes equal is one task", () => {
    const text = "a = rank(-(-close) + -open)\nb = rank(close - open)\nc = rank((close * 1) ^ 1 - open)";
    expect(countTasks(text)).toEqual({ field: 2, subtract: 1, rank: 1 });
    expect(countTasks(text, "simplify_algebra")["rank"]).toBe(3);
  });

  test("works without sharing and without folding", () => {
    expect(countTasks("a = --close / 4 + open / 4", "share_subexpressions", "fold_constants")).toEqual({
      field: 2,
      number: 2,
      multiply: 2,
      add: 1,
    });
  });

  test.each(["alpha101", "alpha158", "gtja191"])("finds nothing left to do in the formulas of %s", (set) => {
    const text = readFileSync(new URL(`../../../examples/${set}.factors`, import.meta.url), "utf8");
    const dag = finalDag(compile(text));
    const again = removeDeadTasks(canonicalOrder(simplifyAlgebra(dag, true, builtInRegistry), true));
    expect(printDag(again)).toBe(printDag(dag));
  });
});
