import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compileStrictly } from "../../src/compile.ts";

function suspicionsOf(text: string): string[] {
  return compileStrictly(text).suspicions.map(
    ({ code, line, column, message }) => `${code} ${line}:${column} ${message}`,
  );
}

describe("strict check", () => {
  test.each([
    [
      "equal factors, also with operands the other way round",
      "a = close * volume\nb = volume * close",
      ["S601 2:1 b equals a"],
    ],
    [
      "factors that are equal only after simplifying",
      "a = close\nb = -(-close) * 1",
      ["S601 2:1 b equals a"],
    ],
    [
      "comparisons the other way round",
      "a = rank(close > open)\nb = rank(open < close)",
      ["S601 2:1 b equals a"],
    ],
    ["names of one formula", "let m = ts_mean(close, 5)\na = m\nb = m", ["S601 3:1 b equals a"]],
    ["constant factors", "param k = 2\na = 3 + k", ["S602 2:1 a does not depend on any field"]],
    [
      "state without end",
      "a = ts_mean(ema(close, 5), 3)",
      ["S603 1:1 a depends on all of history through ema"],
    ],
    ["units in the words of the formula", "a = close - -volume", ["S604 1:5 '-' of price and volume"]],
    ["sums of different units", "a = close + volume", ["S604 1:5 '+' of price and volume"]],
    [
      "comparisons of different units",
      "a = ts_mean(close, 3) > volume",
      ["S604 1:5 '>' of price and volume"],
    ],
    [
      "units through products",
      "a = close * volume - amount + close",
      ["S604 1:5 '+' of price * volume and price"],
    ],
    [
      "zero by zero",
      "a = (close - close) / (0 * volume)",
      [
        "S605 1:5 divides zero by zero on every row",
        "S607 1:6 '-' of equal operands is 0 wherever it is not null",
        "S607 1:24 '*' is 0 wherever it is not null",
      ],
    ],
    [
      "comparisons with null",
      "a = close == null ? 1 : open",
      ["S606 1:5 '==' with null is null, never true: null is not even equal to itself"],
    ],
    [
      "null comparisons in dialects where they are false",
      "dialect alpha101\na = (close != null) * open",
      ["S606 2:6 '!=' with null is null, never true: null is not even equal to itself"],
    ],
    ["what null makes null", "a = rank(close + null)", ["S606 1:10 '+' of null is null everywhere"]],
    [
      "differences of equals",
      "a = open * (close - close)",
      ["S607 1:13 '-' of equal operands is 0 wherever it is not null"],
    ],
    [
      "ratios of equals, whatever their operands' order",
      "a = (high * low - 1) / (low * high - 1)",
      ["S607 1:5 '/' of equal operands is 1 wherever it is not null"],
    ],
    [
      "comparisons of equals",
      "a = close >= close",
      ["S607 1:5 '>=' of equal operands is 1 wherever it is not null"],
    ],
    ["a product with zero", "a = open + 0 * close", ["S607 1:12 '*' is 0 wherever it is not null"]],
    ["a power of zero", "a = open + close ^ 0", ["S607 1:12 '^' is 1 wherever it is not null"]],
    [
      "branches that are equal numbers",
      "a = close > open ? 1 : 1",
      ["S607 1:5 '?:' of equal operands is 1 wherever it is not null"],
    ],
    [
      "branches that are equal formulas",
      "a = close > open ? high + low : low + high",
      ["S608 1:5 '?:' gives the same whatever its condition is"],
    ],
    [
      "a condition that is known",
      "a = 2 > 1 ? close : open",
      ["S610 1:5 the condition of '?:' is 1 wherever it is not null"],
    ],
    ["the larger of equals", "a = max(close, close)", ["S608 1:5 max of equal operands is that operand"]],
    ["windows that are too short", "a = ts_std(close, 1)", ["S609 1:5 ts_std of 1 row is null everywhere"]],
    [
      "other windows that are too short",
      "a = ts_skew(close, 2)",
      ["S609 1:5 ts_skew of 2 rows is null everywhere"],
    ],
    ["a change since now", "a = delta(close, 0)", ["S609 1:5 delta of 1 row is 0 wherever it is not null"]],
    [
      "correlations with oneself",
      "a = correlation(close, close, 20)",
      ["S609 1:5 correlation of equal series is 1 wherever it is not null"],
    ],
    [
      "what a definition holds, once and where it stands",
      "let z(x) = x - x\na = z(open) + z(high)\nb = rank(z(open))",
      ["S607 1:12 '-' of equal operands is 0 wherever it is not null"],
    ],
  ])("finds %s", (_, text, found) => {
    expect(suspicionsOf(text)).toEqual(found);
  });

  test.each([
    "a = close / open - 1",
    "a = rank(close) + rank(volume)",
    "a = close * volume - amount",
    "a = close + 1",
    "a = (close - open) / (high - low)",
    "a = returns\nb = adv20",
    "a = close * close",
    "a = close + close",
    "a = close == 0.05",
    "a = close > 1e200",
    "a = max(close, 0)",
    "a = ts_mean(close, 1)",
    "a = delay(close, 0)",
    "a = ts_sum(close > open, 1)",
    "a = ts_count_nans(close, 1)",
    "a = is_infinite(close)",
    "a = filter(1, close > open)",
    "a = close > open ? 1 : null",
    "a = close > open ? close : null",
    "a = coalesce(close, null)",
    "a = correlation(close, volume, 2)",
  ])("has nothing to say about %s", (text) => {
    expect(suspicionsOf(text)).toEqual([]);
  });

  test("finds in the published formulas what stands in them", () => {
    const found = ["alpha101", "alpha158", "alpha360", "gtja191"].flatMap((set) => {
      const text = readFileSync(new URL(`../../examples/${set}.factors`, import.meta.url), "utf8");
      return compileStrictly(text).suspicions;
    });
    const others = found.filter(({ code }) => code !== "S603");
    expect(others.map(({ code, factor, message }) => `${code} ${factor} ${message}`)).toEqual([
      "S604 alpha007 '<' of price * volume and volume",
      // It is close by close, as published.
      "S607 CLOSE0 '/' of equal operands is 1 wherever it is not null",
    ]);
  });
});
