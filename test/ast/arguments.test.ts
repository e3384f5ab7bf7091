import { describe, expect, test } from "vitest";
import { graph, mistakes, remedies } from "../compile/rendered.ts";

/** The task of a formula that is one call of fields and numbers. */
function call(formula: string): string {
  return (
    graph(`a = ${formula}`)
      .split("\n")
      .at(-2)
      ?.replace(/^%\d+ = /, "") ?? ""
  );
}

describe("arguments by name", () => {
  test.each([
    ["ts_mean(close, d=5)", "ts_mean(%0, d=5)"],
    ["ts_mean(x=close, d=5)", "ts_mean(%0, d=5)"],
    ["ts_mean(d=5, x=close)", "ts_mean(%0, d=5)"],
    ["correlation(y=close, x=open, d=3)", "correlation(%0, %1, d=3)"],
    ["scale(close, a=2)", "scale(%0, a=2)"],
    ["indneutralize(g=sector, x=close)", "group_neutralize(%0, sector)"],
  ])("%s", (formula, expected) => {
    expect(call(formula)).toBe(expected);
  });

  test("keep their meaning in any order", () => {
    expect(graph("a = covariance(y=close, x=delay(open, 1), d=3)")).toBe(
      graph("a = covariance(delay(open, 1), close, 3)"),
    );
    expect(graph("a = signed_power(a=2, x=close)")).toBe(graph("a = signed_power(close, 2)"));
  });

  test.each([
    ["ts_mean(close, x=open)", "E202 1:20 x is given twice"],
    ["ts_mean(close, 5, d=6)", "E202 1:23 d is given twice"],
    ["ts_mean(close, d=5, d=6)", "E202 1:25 d is given twice"],
    ["ts_mean(close, window=5)", "E202 1:20 ts_mean has no argument window"],
    ["ts_mean(d=5)", "E202 1:5 ts_mean expects 2 arguments, got 1"],
  ])("are refused: %s", (formula, expected) => {
    expect(mistakes(`a = ${formula}`)).toEqual([expected]);
  });
});

describe("arguments that may be left out", () => {
  test("have a default", () => {
    expect(call("scale(close)")).toBe("scale(%0, a=1)");
    expect(mistakes("a = scale()")).toEqual(["E202 1:5 scale expects 1..2 arguments, got 0"]);
    expect(mistakes("a = scale(close, 1, 2)")).toEqual(["E202 1:5 scale expects 1..2 arguments, got 3"]);
  });
});

describe("min_periods", () => {
  test.each([1, 3, 5])("may be %d of a window of 5", (rows) => {
    expect(call(`ts_mean(close, 5, min_periods=${rows})`)).toBe(`ts_mean(%0, d=5, min_periods=${rows})`);
  });

  test.each(["0", "6", "-1", "2.5", "close", "1 / 0", "0 / 0"])("may not be %s of a window of 5", (rows) => {
    expect(mistakes(`a = ts_mean(close, 5, min_periods=${rows})`)).toEqual([
      "E203 1:35 min_periods of ts_mean is a whole number from 1 to its window of 5 rows",
    ]);
  });

  test("may be worked out", () => {
    expect(call("ts_mean(close, 5, min_periods=6 / 2)")).toBe("ts_mean(%0, d=5, min_periods=3)");
    expect(graph("let m = 2\na = ts_mean(close, 5, min_periods=m)")).toContain("min_periods=2");
  });

  test("is not for operators without one", () => {
    for (const formula of ["rank(close", "delay(close, 5", "max(close, open", "scale(close"]) {
      expect(mistakes(`a = ${formula}, min_periods=1)`)).toEqual([
        expect.stringMatching(/^E202 1:\d+ \w+ has no argument min_periods$/),
      ]);
    }
  });
});

describe("numbers known in advance", () => {
  test.each([
    ["a number", "ts_sum(close, 5)"],
    ["arithmetic", "ts_sum(close, 2 * 3 - 1)"],
    ["functions of numbers", "ts_sum(close, max(5, abs(-4)))"],
    ["a choice", "ts_sum(close, 1 < 2 ? 5 : 9)"],
  ])("%s", (_, formula) => {
    expect(call(formula)).toBe("ts_sum(%0, d=5)");
  });

  test("a let, also of another let", () => {
    expect(graph("let h = 2.5\nlet d = h * 2\na = ts_sum(close, d)")).toContain("ts_sum(%0, d=5)");
  });

  test("a factor that is a number", () => {
    expect(graph("d = 5\na = ts_sum(close, d)")).toContain("ts_sum(%1, d=5)");
  });

  test.each([
    ["a field", "open", "a series"],
    ["a formula", "rank(open)", "a series"],
    ["a comparison", "open > 1", "a condition"],
    ["a group", "sector", "a group"],
  ])("but not %s", (_, argument, what) => {
    expect(mistakes(`a = ts_sum(close, ${argument})`)).toEqual([
      `E210 1:19 ts_sum expects a number known in advance as d, got ${what}`,
    ]);
  });

  test.each(["d", "d + 1", "max(d, 5)"])("nor a param: %s", (argument) => {
    expect(mistakes(`param d = 5\na = ts_sum(close, ${argument})`)).toEqual([
      "E210 2:19 ts_sum expects a number known in advance as d, got a param: it may differ from call to call",
    ]);
  });
});

describe("windows and delays", () => {
  test.each([
    ["ts_sum(close, 0)", "E203 1:19 ts_sum expects a window of 1..65536 rows, got 0"],
    ["ts_sum(close, -1)", "E203 1:19 ts_sum expects a window of 1..65536 rows, got -1"],
    ["ts_sum(close, 65537)", "E203 1:19 ts_sum expects a window of 1..65536 rows, got 65537"],
    ["ts_sum(close, 1.5)", "E203 1:19 ts_sum expects a whole number of rows, got 1.5"],
    ["ts_sum(close, 1 / 0)", "E203 1:19 ts_sum expects a window of 1..65536 rows, got Infinity"],
    ["ts_sum(close, 0 / 0)", "E203 1:19 ts_sum expects a window of 1..65536 rows, got NaN"],
    ["delay(close, 65537)", "E203 1:18 delay expects a delay of 0..65536 rows, got 65537"],
    ["delay(close, 0.5)", "E203 1:18 delay expects a whole number of rows, got 0.5"],
    ["delay(close, -1)", "E206 1:18 delay by -1 rows would look ahead"],
    ["delta(close, -0.5)", "E206 1:18 delta by -0.5 rows would look ahead"],
  ])("%s", (formula, expected) => {
    expect(mistakes(`a = ${formula}`)).toEqual([expected]);
  });

  test("may reach their limits", () => {
    expect(call("ts_sum(close, 1)")).toBe("ts_sum(%0, d=1)");
    expect(call("ts_sum(close, 65536)")).toBe("ts_sum(%0, d=65536)");
    expect(call("delay(close, 0)")).toBe("delay(%0, d=0)");
    expect(call("delay(close, 65536)")).toBe("delay(%0, d=65536)");
  });

  test("the remedy for a fraction of a row is a whole number", () => {
    expect(remedies("a = ts_sum(close, 17.93)")).toEqual(["use 17 (dialect alpha101 rounds down by itself)"]);
  });
});

describe("types", () => {
  test.each([
    ["a comparison is a series of 1 and 0", "(close > 1) + 1"],
    ["a comparison of comparisons", "(close > 1) == (open > 1)"],
    ["a number is a series", "rank(5)"],
    ["a number is compared", "1 > 2 ? close : open"],
    ["null rules are no types", "!(close > 1) && open < 2 || close != open"],
  ])("%s", (_, formula) => {
    expect(mistakes(`a = ${formula}`)).toEqual([]);
  });

  test.each([
    ["close ? 1 : 2", ["E204 1:5 '?:' expects a condition, got a series"]],
    ["5 ? 1 : 2", ["E204 1:5 '?:' expects a condition, got a number"]],
    ["!close", ["E204 1:6 '!' expects a condition, got a series"]],
    [
      "close && open",
      ["E204 1:5 '&&' expects a condition, got a series", "E204 1:14 '&&' expects a condition, got a series"],
    ],
    ["rank(sector)", ["E204 1:10 rank expects a series as x, got the group column sector"]],
    ["-sector", ["E204 1:6 '-' expects a series, got the group column sector"]],
    ["sector == 1", ["E204 1:5 '==' expects a series, got the group column sector"]],
    ["indneutralize(close, 5)", ["E204 1:26 group_neutralize expects a group column, got a number"]],
    ['rank("close")', ["E204 1:10 a text has no place in a formula"]],
  ])("%s", (formula, expected) => {
    expect(mistakes(`a = ${formula}`)).toEqual(expected);
  });
});
