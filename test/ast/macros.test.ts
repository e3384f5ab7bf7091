import { describe, expect, test } from "vitest";
import { graph, mistakes, remedies } from "../compile/rendered.ts";

/** True if two texts have the same graph. */
function expectSame(text: string, other: string): void {
  expect(graph(text)).toBe(graph(other));
}

describe("let f(x, d) = ...", () => {
  test("is replaced by its formula with the arguments in place of the parameters", () => {
    expectSame("let f(x, d) = ts_mean(x, d) / x\na = f(close, 5)", "a = ts_mean(close, 5) / close");
    expectSame("let f(x, y) = x - y\na = f(open, close)", "a = open - close");
    expectSame("let f(x) = x ^ 2\na = f(close + open)", "a = (close + open) ^ 2");
    expectSame("let one(x) = 1\na = close * one(open)", "a = close * 1");
  });

  test("may use other definitions, of either kind, in any order", () => {
    expectSame(
      "a = g(close)\nlet g(x) = f(f(x, 2), 3) + m\nlet m = ts_std(volume, d)\nlet d = 4\nlet f(x, d) = delay(x, d)",
      "a = delay(delay(close, 2), 3) + ts_std(volume, 4)",
    );
  });

  test("may be given windows, groups and conditions", () => {
    expectSame("let f(d) = ts_mean(close, d * 2)\na = f(5)", "a = ts_mean(close, 10)");
    expectSame("let f(g) = indneutralize(close, g)\na = f(sector)", "a = indneutralize(close, sector)");
    expectSame("let f(c) = c ? 1 : close\na = f(open > 2)", "a = open > 2 ? 1 : close");
  });

  test("sees its own parameters before all other names", () => {
    expectSame("let f(close) = close * 2\na = f(open)", "a = open * 2");
    expectSame("let x = volume\nlet f(x) = x\na = f(open) + x", "a = open + volume");
    expectSame("param p = 1\nlet f(p) = p\na = f(open)", "a = open");
    expectSame("let f(returns) = returns\na = f(open)", "a = open");
  });

  test("does not see the parameters of the one that uses it", () => {
    expectSame("let f(y) = y + close\nlet g(close) = f(close)\na = g(open)", "a = open + close");
    expect(mistakes("let f(y) = y + inner\nlet g(inner) = f(inner)\na = g(open)")).toEqual([
      "E205 1:16 unknown name inner",
    ]);
  });

  test("a parameter may bear the name of a function", () => {
    expectSame("let f(rank) = rank(rank)\na = f(open)", "a = rank(open)");
  });

  test("a number as argument may be no window for one use and one for another", () => {
    expectSame("let f(x) = x * 2\na = f(3) + ts_sum(close, f(3))", "a = 3 * 2 + ts_sum(close, 6)");
  });
});

describe("mistakes", () => {
  test("in the formula are reported there, once, used or not", () => {
    expect(mistakes("let f(x) = ts_mean(x, 0)\na = f(close)\nb = f(open)")).toEqual([
      "E203 1:23 ts_mean expects a window of 1..65536 rows, got 0",
    ]);
    expect(mistakes("let unused(x) = clsoe\na = close")).toEqual(["E205 1:17 unknown name clsoe"]);
  });

  test("of arguments are reported at the arguments, each", () => {
    expect(mistakes("let f(d) = ts_mean(close, d)\na = f(0)\nb = f(open)\nc = f(5)")).toEqual([
      "E203 2:7 ts_mean expects a window of 1..65536 rows, got 0",
      "E210 3:7 ts_mean expects a number known in advance as d, got a series",
    ]);
    expect(mistakes("let f(g) = indneutralize(close, g)\na = f(open)")).toEqual([
      "E204 2:7 group_neutralize expects a group column, got a series",
    ]);
  });

  test("in the number of arguments are reported at the call", () => {
    const text =
      "let f(x, d) = ts_mean(x, d)\na = f(close)\nb = f(close, 5, 6)\nc = f()\nd = 1 + F(x=close, d=5)";
    expect(mistakes(text)).toEqual([
      "E202 2:5 f expects 2 arguments, got 1",
      "E202 3:5 f expects 2 arguments, got 3",
      "E202 4:5 f expects 2 arguments, got 0",
      "E202 5:9 F takes its arguments by position",
    ]);
    expect(new Set(remedies(text))).toEqual(new Set(["it reads f(x, d)"]));
  });

  test("a definition without parameters is no function, one with parameters no series", () => {
    expect(mistakes("let v = close\na = v(1)\nlet f(x) = x\nb = f")).toEqual([
      "E219 2:5 v is not a function",
      "E202 4:5 f is used without its arguments",
    ]);
  });

  test.each([
    ["itself", "let f(x) = f(x)\na = f(close)", "f -> f"],
    ["each other", "let f(x) = g(x)\nlet g(x) = f(x)\na = f(close)", "f -> g -> f"],
    [
      "each other through parameters of their names",
      "let f(g) = g(close)\nlet g(f) = f(close)\na = f(1)",
      "f -> g -> f",
    ],
    ["itself in another letter case", "let f(x) = F(x)\na = f(close)", "f -> f"],
    ["itself through a factor", "let f(x) = a + x\na = f(close)", "f -> a -> f"],
  ])("they may not use %s", (_, text, cycle) => {
    expect(mistakes(text)).toEqual([`E208 1:5 f uses itself: ${cycle}`]);
  });

  test("operators cannot be redefined", () => {
    expect(mistakes("let rank(x) = x\na = rank(close)")).toEqual([
      "E207 1:5 rank is the name of an operator",
    ]);
    expect(mistakes("let StdDev(x, d) = x\na = close")).toEqual([
      "E207 1:5 StdDev is the name of an operator",
    ]);
  });
});
