import { describe, expect, test } from "vitest";
import type { ParamValue } from "../../src/ast/param_value.ts";
import { numericParam, resolveParams } from "../../src/ast/params.ts";
import { compile } from "../../src/compile.ts";
import { UsageError } from "../../src/errors.ts";
import { graph, mistakes } from "../compile/rendered.ts";

const TEXT = 'param lambda = 0.94\nparam session = "close"\nparam flag = true\nparam open_only\na = close';

function resolve(given: Record<string, ParamValue>): Record<string, ParamValue> {
  return Object.fromEntries(resolveParams(compile(TEXT).params, given));
}

describe("params in formulas", () => {
  test("are numbers known when a call starts", () => {
    expect(graph("param lambda = 0.94\na = close * lambda")).toBe(
      "%0 = close\n%1 = param lambda\n%2 = multiply(%0, %1)\na = %2",
    );
    expect(mistakes("param p\na = close * p")).toEqual([]);
    expect(mistakes("param flag = true\na = close * flag")).toEqual([]);
  });

  test("are no texts", () => {
    expect(mistakes('param s = "x"\na = close * s\nb = ts_mean(close, s)\nc = s')).toEqual([
      "E204 2:13 param s is a text, not a number",
      "E204 3:20 param s is a text, not a number",
      "E204 4:5 param s is a text, not a number",
    ]);
  });

  test("may be used before they are declared, in any letter case", () => {
    expect(graph("a = close * LAMBDA\nparam lambda = 0.94")).toContain("param lambda");
  });

  test("of a program are listed with their defaults, in the order of the file", () => {
    expect([...compile(TEXT).params]).toEqual([
      ["lambda", 0.94],
      ["session", "close"],
      ["flag", true],
      ["open_only", null],
    ]);
  });
});

describe("the params of a call", () => {
  test("are those given over the defaults; one with neither stays out", () => {
    expect(resolve({})).toEqual({ lambda: 0.94, session: "close", flag: true });
    expect(resolve({ lambda: 1, open_only: "x" })).toEqual({
      lambda: 1,
      session: "close",
      flag: true,
      open_only: "x",
    });
  });

  test.each<[Record<string, ParamValue>, string]>([
    [{ lamda: 1 }, "E506 unknown param lamda\n  did you mean lambda?"],
    [{ zzzzzz: 1 }, "E506 unknown param zzzzzz\n  params of this file: lambda, session, flag, open_only"],
    [{ constructor: 1 }, "E506 unknown param constructor\n"],
    [
      { lambda: "x" },
      'E528 param lambda is a number, got a text: "x"\n  give it a value like its default 0.94',
    ],
    [
      { session: 1 },
      'E528 param session is a text, got a number: 1\n  give it a value like its default "close"',
    ],
    [
      { flag: 1 },
      "E528 param flag is true or false, got a number: 1\n  give it a value like its default true",
    ],
  ])("%j is refused", (given, message) => {
    expect(() => resolve(given)).toThrow(UsageError);
    expect(() => resolve(given)).toThrow(message);
  });

  test("of names that JavaScript knows are refused like others", () => {
    const given = JSON.parse('{"__proto__": 1}') as Record<string, ParamValue>;
    expect(() => resolve(given)).toThrow("E506 unknown param __proto__");
    const { params } = compile("param __proto__ = 1\na = close");
    expect([...resolveParams(params, given)]).toEqual([["__proto__", 1]]);
  });

  test("without any in the file say so", () => {
    expect(() => resolveParams(new Map(), { p: 1 })).toThrow(
      "E506 unknown param p\n  params of this file: none",
    );
  });
});

describe("numericParam", () => {
  const values = new Map<string, ParamValue>([
    ["n", 2.5],
    ["yes", true],
    ["no", false],
    ["text", "2.5"],
  ]);

  test("gives numbers, 1 for true and 0 for false", () => {
    expect(["n", "yes", "no"].map((name) => numericParam(name, values))).toEqual([2.5, 1, 0]);
  });

  test.each([
    ["text", 'E528 param text is used as a number, got the text "2.5"\n  give it a number'],
    ["missing", "E555 param missing has no value\n  give it one: --param missing=..."],
  ])("refuses %s", (name, message) => {
    expect(() => numericParam(name, values)).toThrow(message);
  });
});
