import { describe, expect, test } from "vitest";
import { compile } from "../../src/compile.ts";

function lookbacks(text: string): Record<string, number> {
  return Object.fromEntries(compile(text).factors.map(({ name, lookbackRows }) => [name, lookbackRows]));
}

describe("lookback: rows before the current one that a value depends on", () => {
  test.each([
    ["a field", "close", 0],
    ["a number", "5", 0],
    ["elementwise work", "close + open * 2", 0],
    ["work across the row", "rank(scale(close))", 0],
    ["a window of one row", "ts_mean(close, 1)", 0],
    ["a window of d rows is d - 1", "ts_mean(close, 20)", 19],
    ["a delay is itself", "delay(close, 5)", 5],
    ["no delay", "delay(close, 0)", 0],
    ["a difference is its delay", "delta(close, 3)", 3],
    ["windows within windows add up", "ts_mean(ts_std(close, 10), 5)", 9 + 4],
    ["a delay of a window", "delay(ts_mean(close, 20), 5)", 19 + 5],
    ["arguments side by side: the larger", "correlation(delay(close, 3), ts_mean(open, 8), 10)", 7 + 9],
    ["both branches count", "close > 1 ? delay(close, 2) : delay(close, 9)", 9],
    ["and the condition", "delay(close, 4) > 1 ? close : open", 4],
    ["through operators across the row", "ts_rank(rank(delta(close, 1)), 5)", 1 + 4],
    ["within groups", "ts_sum(indneutralize(delay(close, 2), sector), 3)", 2 + 2],
    ["returns reach back one row", "returns", 1],
    ["adv20 is a mean", "adv20", 19],
    ["a deviation of returns", "stddev(returns, 20)", 20],
    ["min_periods does not shorten it", "ts_mean(close, 20, min_periods=1)", 19],
  ])("%s", (_, formula, rows) => {
    expect(lookbacks(`a = ${formula}`)).toEqual({ a: rows });
  });

  test("is known for each factor, through definitions and other factors", () => {
    const text =
      "let m = ts_mean(close, 5)\nlet f(x, d) = delay(x, d)\na = m\nb = delta(a, 1)\nc = f(b, 7)\nd = close";
    expect(lookbacks(text)).toEqual({ a: 4, b: 5, c: 12, d: 0 });
  });

  test("of alpha048 of the 101 formulas is that of its correlation over 250 rows", () => {
    const text =
      "a = (indneutralize(((correlation(delta(close, 1), delta(delay(close, 1), 1), 250) * delta(close, 1)) / close), " +
      "subindustry) / sum(((delta(close, 1) / delay(close, 1))^2), 250))";
    expect(lookbacks(text)).toEqual({ a: 249 + 2 });
  });
});
