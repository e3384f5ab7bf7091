import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { type Condition, holds } from "../../src/ast/condition.ts";
import type { ParamValue } from "../../src/ast/param_value.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { UsageError } from "../../src/errors.ts";
import { mistakes } from "../compile/rendered.ts";

const DECLARED = `
param n = 1
param flag = true
param session = "close"
param any
`;

function conditionsOf(text: string): readonly Condition[] {
  return finalDag(compile(DECLARED + text)).conditions;
}

/** True if a condition holds for these params, with defaults for the others. */
function decide(condition: string, given: Record<string, ParamValue> = {}): boolean {
  const [compiled] = conditionsOf(`a = close when ${condition}`);
  const params = new Map<string, ParamValue>(
    Object.entries({ n: 1, flag: true, session: "close", ...given }),
  );
  return holds(compiled as Condition, params, builtInRegistry);
}

describe("a condition holds", () => {
  test.each<[string, boolean]>([
    ["1", true],
    ["0", false],
    ["-0", false],
    ["0.5", true],
    ["n", true],
    ["!n", false],
    ["flag", true],
    ["!flag", false],
    ["n == 1", true],
    ["n != 1", false],
    ["n < 2 && n > 0", true],
    ["n <= 1 && n >= 1", true],
    ["n == 2 || n == 1", true],
    ["n == 2 || n == 3", false],
    ["!(n == 2) && flag", true],
    ["flag == 1", true],
    ["n + 2 * 3 == 7", true],
    ["-n == -1", true],
    ["n % 5 == 1", true],
    ["-n % 5 == 4", true],
    ["2 ^ 3 == 8", true],
    ["n == 1 ? flag : 0", true],
    ['session == "close"', true],
    ['"close" == session', true],
    ['session != "open"', true],
    ['session == "Close"', false],
    ["session == 'close'", true],
    ['session == "close" && n == 1', true],
    ["0 / 0 == 0 / 0", false],
    ["0 / 0 != 0 / 0", false],
    ["!(0 / 0 > 1)", false],
    ["0 / 0 > 1 || n == 1", true],
    ["1 / 0 > 5", true],
  ])("%s: %s", (condition, expected) => {
    expect(decide(condition)).toBe(expected);
  });

  test("for the params of the call", () => {
    expect(decide("n % 5 == 0", { n: 30 })).toBe(true);
    expect(decide("n % 5 == 0", { n: 31 })).toBe(false);
    expect(decide('session != "auction"', { session: "auction" })).toBe(false);
    expect(decide("flag", { flag: false })).toBe(false);
    expect(decide('any == "x"', { any: "x" })).toBe(true);
    expect(decide("any > 2", { any: 3 })).toBe(true);
    expect(decide("n > 0", { n: Number.NaN })).toBe(false);
  });

  test("a param may be written in any letter case", () => {
    expect(decide('Session == "close" && N == 1')).toBe(true);
  });

  test("a chain of 100,000 comparisons is decided", () => {
    expect(decide(`n == 1${" && n == 1".repeat(100_000)}`)).toBe(true);
  });
});

describe("a condition that cannot be decided is an error of the call", () => {
  test.each<[string, string, Record<string, ParamValue>, string]>([
    ["without a value", "any == 1", {}, "E555 param any has no value\n  give it one: --param any=..."],
    [
      "with a text where a number is needed",
      "any > 1",
      { any: "x" },
      'E528 a condition cannot work out "x" > 1\n  texts can be compared with texts by == and !=',
    ],
    [
      "with a text that is compared with a number",
      "any == 1",
      { any: "1" },
      'E528 a condition cannot work out "1" == 1',
    ],
    [
      "with a number that is compared with a text",
      'any == "1"',
      { any: 1 },
      'E528 a condition cannot work out 1 == "1"',
    ],
    ["with a text alone", "any", { any: "no" }, 'E528 a condition is the text "no"'],
  ])("%s", (_, condition, params, message) => {
    expect(() => decide(condition, params)).toThrow(UsageError);
    expect(() => decide(condition, params)).toThrow(message);
  });
});

describe("what a condition may be made of", () => {
  test.each([
    [
      "a field",
      "close > 1",
      "E213 6:16 close is not a param: conditions are evaluated once per call, from params alone",
    ],
    [
      "a let",
      "v > 1",
      "E213 6:16 v is not a param: conditions are evaluated once per call, from params alone",
    ],
    [
      "a factor",
      "b > 1",
      "E213 6:16 b is not a param: conditions are evaluated once per call, from params alone",
    ],
    ["a function", "abs(n) > 1", "E213 6:16 abs(...) in a condition"],
  ])("not %s", (_, condition, expected) => {
    expect(mistakes(`${DECLARED}a = close when ${condition}\nlet v = 1\nb = open`)).toEqual([expected]);
  });

  test.each([
    ['"close"', "E213 6:16 a text is not a condition"],
    ["session", "E213 6:16 a text is not a condition"],
    [
      "session > 1",
      "E213 6:16 '>' does not work with a text here: texts are compared with texts, by == and !=",
    ],
    [
      "session == 1",
      "E213 6:16 '==' does not work with a text here: texts are compared with texts, by == and !=",
    ],
    [
      'session < "open"',
      "E213 6:16 '<' does not work with a text here: texts are compared with texts, by == and !=",
    ],
    [
      'n == "close"',
      "E213 6:16 '==' does not work with a text here: texts are compared with texts, by == and !=",
    ],
    ["!session", "E213 6:16 '!' does not work with a text here: texts are compared with texts, by == and !="],
    [
      "n == 1 && session",
      "E213 6:16 '&&' does not work with a text here: texts are compared with texts, by == and !=",
    ],
  ])("texts only to be compared with texts: %s", (condition, expected) => {
    expect(mistakes(`${DECLARED}a = close when ${condition}`)).toEqual([expected]);
  });

  test("a param without a default may be of any type", () => {
    expect(
      mistakes(`${DECLARED}a = close when any == "x"\nb = close when any > 1\nc = close when any`),
    ).toEqual([]);
  });

  test("every mistake of a condition is reported, once, though many factors stand under it", () => {
    const text = `${DECLARED}when nothing == 1 && session > 2 {\n a = close\n b = open\n c = high when nothing == 1\n}`;
    expect(mistakes(text).map((line) => line.split(" ", 2).join(" "))).toEqual([
      "E213 6:6",
      "E213 6:22",
      "E213 9:16",
    ]);
  });

  test("also where no factor stands under it", () => {
    expect(mistakes("when nothing == 1 {\n let v = close\n}\na = v")).toEqual([
      "E213 1:6 nothing is not a param: conditions are evaluated once per call, from params alone",
    ]);
  });
});

describe("factors and their conditions", () => {
  const conditionIndexes = (text: string) =>
    finalDag(compile(DECLARED + text)).outputs.map(({ name, condition }) => `${name}:${condition ?? "-"}`);

  test("a factor has the conditions of all blocks around it and its own", () => {
    const text = "when n == 1 {\n a = close\n when flag {\n  b = close when n > 0\n }\n}\nc = close";
    const [a, b] = conditionsOf(text);
    expect(conditionIndexes(text)).toEqual(["a:0", "b:1", "c:-"]);
    const at = (condition: Condition | undefined, params: Record<string, ParamValue>) =>
      holds(condition as Condition, new Map(Object.entries(params)), builtInRegistry);
    expect(at(a, { n: 1 })).toBe(true);
    expect(at(b, { n: 1, flag: true })).toBe(true);
    expect(at(b, { n: 1, flag: false })).toBe(false);
    expect(at(b, { n: 2, flag: true })).toBe(false);
  });

  test("equal conditions are one, wherever they are written", () => {
    expect(
      conditionIndexes(
        "when n == 1 {\n a = close\n b = open\n}\nc = high when n == 1\nwhen n==1 { d = low }",
      ),
    ).toEqual(["a:0", "b:0", "c:0", "d:0"]);
    expect(conditionIndexes("when n == 1 {\n a = close when n == 1\n}\nb = close when n == 1")).toEqual([
      "a:0",
      "b:0",
    ]);
  });

  test("a let in a block is defined for all of the file", () => {
    expect(mistakes(`${DECLARED}when n == 1 {\n let v = close\n a = v\n}\nb = v`)).toEqual([]);
  });

  test("a factor under no condition may use one under a condition", () => {
    expect(conditionIndexes("a = rank(close) when n == 2\nb = a + 1")).toEqual(["a:0", "b:-"]);
  });
});
