import { describe, expect, test } from "vitest";
import type { CompileOptions } from "../../src/compile.ts";
import { graph, mistakes, remedies } from "../compile/rendered.ts";

/** The leaves of a graph: fields, params and numbers. */
function leaves(text: string, options: CompileOptions = {}): string[] {
  return graph(text, options)
    .split("\n")
    .flatMap((line) => /^%\d+ = ([^(]+)$/.exec(line)?.[1] ?? []);
}

describe("what a name stands for", () => {
  test("a let hides the panel's column", () => {
    expect(graph("let vwap = (high + low) / 2\na = vwap")).not.toContain("vwap");
    expect(leaves("let sector = industry\na = indneutralize(close, sector)")).toEqual(["close"]);
    expect(graph("let sector = industry\na = indneutralize(close, sector)")).toContain("(%0, industry)");
  });

  test("a column that is a field and a group is what the place of its name expects", () => {
    const panel = { fields: ["close", "state"], groups: ["state"] };
    expect(graph("a = group_rank(state, State)", panel)).toBe(
      "%0 = state\n%1 = group_rank(%0, state)\na = %1",
    );
    expect(graph("let g = state\na = group_rank(close, g)", panel)).toContain("(%0, state)");
    expect(mistakes("a = group_rank(state, close)", panel)).toEqual([
      "E204 1:23 group_rank expects a group column, got a series",
    ]);
  });

  test("a factor and a param hide it too", () => {
    expect(leaves("volume = close\na = volume")).toEqual(["close"]);
    expect(leaves("param volume = 1\na = volume")).toEqual(["param volume"]);
  });

  test("a column of the panel hides the derived series", () => {
    expect(leaves("a = returns", { fields: ["returns", "close"] })).toEqual(["returns"]);
    expect(leaves("a = adv20", { fields: ["adv20", "close", "volume"] })).toEqual(["adv20"]);
    expect(leaves("a = returns", { fields: ["close"] })).toEqual(["close", "1"]);
  });

  test("a let hides the derived series", () => {
    expect(leaves("let returns = open\na = returns")).toEqual(["open"]);
    expect(leaves("let adv20 = open\na = adv20 + adv5")).toEqual(["open", "close", "volume"]);
  });

  test("derived series use a user's definitions of what they are made of", () => {
    expect(graph("let close = open\na = returns")).toBe(graph("a = open / delay(open, 1) - 1"));
    expect(graph("let volume = 2 * cap\na = adv5")).toBe(graph("a = ts_mean(close * (2 * cap), 5)"));
    expect(graph("param volume = 3\na = adv5")).toBe(
      graph("param volume = 3\na = ts_mean(close * volume, 5)"),
    );
  });

  test("a definition may be made of the column that it hides through a derived series of the panel", () => {
    expect(leaves("let close = returns\na = close", { fields: ["close", "returns"] })).toEqual(["returns"]);
  });

  test("but not of a derived series that is made of it", () => {
    expect(mistakes("let close = returns\na = close")).toEqual([
      "E208 1:5 close uses itself: close -> close",
    ]);
  });

  test("factors may use factors above and below", () => {
    const text = "a = b + 1\nb = c * 2\nc = close";
    expect(graph(text)).toContain("c = %");
    expect(leaves(text)).toEqual(["close", "2", "1"]);
    expect(mistakes("c = close\nb = c * 2\na = b + 1")).toEqual([]);
  });

  test("a factor may bear the name of a function that it calls", () => {
    expect(graph("rank = rank(close)\na = rank(rank)")).toBe(
      "%0 = close\n%1 = rank(%0)\n%2 = rank(%1)\nrank = %1\na = %2",
    );
    expect(leaves("let delta = open\na = delta(delta, 1)")).toEqual(["open"]);
  });

  test.each([
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "valueOf",
  ])("%s is a name like any other", (name) => {
    expect(mistakes(`a = ${name}`)).toEqual([`E205 1:5 unknown name ${name}`]);
    expect(leaves(`a = ${name}`, { fields: [name] })).toEqual([name]);
    expect(leaves(`let ${name} = close\na = ${name}`)).toEqual(["close"]);
    expect(leaves(`param ${name} = 1\na = ${name}`)).toEqual([`param ${name}`]);
    expect(leaves(`let ${name}(x) = x\na = ${name}(close)`)).toEqual(["close"]);
    expect(leaves(`let f(${name}) = ${name}\na = f(close)`)).toEqual(["close"]);
    expect(graph(`${name} = close`)).toBe(`%0 = close\n${name} = %0`);
    expect(mistakes(`a = rank(close, ${name}=1)`)).toEqual([`E202 1:17 rank has no argument ${name}`]);
  });
});

describe("letter case", () => {
  test("does not matter where only one column is meant", () => {
    expect(leaves("a = CLOSE", { fields: ["Close"] })).toEqual(["Close"]);
    expect(graph("a = indneutralize(close, SECTOR)")).toContain("sector");
  });

  test("decides where several differ in it only", () => {
    const options = { fields: ["close", "Close"] };
    expect(leaves("a = Close", options)).toEqual(["Close"]);
    expect(leaves("a = close", options)).toEqual(["close"]);
    expect(mistakes("a = CLOSE", options)).toEqual(["E205 1:5 unknown name CLOSE"]);
  });

  test("cannot bring back a column that is hidden", () => {
    expect(leaves("let vwap = close\na = VWAP")).toEqual(["close"]);
    expect(leaves("param cap = 1\na = Cap")).toEqual(["param cap"]);
    expect(leaves("let f(close) = CLOSE\na = f(open)")).toEqual(["open"]);
  });

  test("as written goes first: a let Close leaves close alone", () => {
    expect(leaves("let Close = close\na = Close")).toEqual(["close"]);
    expect(leaves("let Close = open\na = close")).toEqual(["close"]);
  });

  test("does not matter for derived series and functions of the file", () => {
    expect(leaves("a = ADV20")).toEqual(["close", "volume"]);
    expect(leaves("let twice(x) = x + x\na = TWICE(close)")).toEqual(["close"]);
  });
});

describe("an unknown name", () => {
  test.each([
    ["a field", "a = clsoe", "close"],
    ["a group", "a = indneutralize(close, sectr)", "sector"],
    ["a let", "let spread = high - low\na = spred", "spread"],
    ["a param", "param lambda = 1\na = lamda", "lambda"],
    ["a derived series", "a = retruns", "returns"],
    ["a parameter", "let f(window) = windw\na = f(close)", "window"],
  ])("may be misspelt from %s", (_, text, expected) => {
    expect(remedies(text)).toEqual([`did you mean ${expected}?`]);
  });

  test("else the columns are listed, not more than twelve", () => {
    const fields = Array.from({ length: 20 }, (_, i) => `field${i}`);
    expect(remedies("a = zzz", { fields, groups: ["sector"] })).toEqual([
      `fields: ${fields.slice(0, 12).join(", ")}, ...; groups: sector`,
    ]);
  });

  test("with the prefix of another dialect says what to write", () => {
    expect(remedies("a = indneutralize(close, IndClass.industry)")).toEqual([
      "write industry, or begin the file with: dialect alpha101",
    ]);
    expect(remedies("a = bars.close")).toEqual(["write close"]);
  });

  test("within a derived series says in which", () => {
    expect(mistakes("a = adv20\nb = adv20 + 1", { fields: ["close"] })).toEqual([
      "E205 1:5 unknown name volume, which adv20 is derived from",
    ]);
  });
});
