import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { DIALECTS, statedDialect } from "../../grammar/dialects.ts";
import { builtInRegistry } from "../../operators/index.ts";
import { DEFAULT_GROUPS } from "../../src/ast/names.ts";
import { type CallNode, callNode, type Expression, numberNode, unknownNode } from "../../src/ast/nodes.ts";
import { printExpression } from "../../src/ast/print.ts";
import { DEFAULT_FIELDS } from "../../src/compile.ts";
import { bindFile, bindFormula, treeDifference } from "./bound_formula.ts";

const EXAMPLES = new URL("../../examples/", import.meta.url);
const NAMES = { fields: ["a", "b", "c"], groups: ["sector"], params: ["lambda"] };
const AT = { start: 0, end: 1 };

const print = (formula: string) => printExpression(bindFormula(formula, NAMES));

/** An application built by hand, for trees that no short text gives. */
function call(name: string, args: readonly Expression[]): Expression {
  return callNode(builtInRegistry.kernel(name), args, {
    group: null,
    settings: {},
    minPeriods: null,
    span: AT,
  });
}

describe("the text", () => {
  test.each([
    ["((a + b)) + c", "a + b + c"],
    ["a + (b + c)", "a + (b + c)"],
    ["a - (b - c) - (a * b)", "a - (b - c) - a * b"],
    ["(a + b) * c / (a * b)", "(a + b) * c / (a * b)"],
    ["(a ^ b) ^ c", "(a ^ b) ^ c"],
    ["a ^ (b ^ c)", "a ^ b ^ c"],
    ["(-a) ^ 2", "(-a) ^ 2"],
    ["-(a ^ 2)", "-a ^ 2"],
    ["a ^ (-b)", "a ^ -b"],
    ["a ^ (-(b ^ c))", "a ^ -b ^ c"],
    ["a - (-b)", "a - -b"],
    ["-(-a)", "--a"],
    ["-(a * b)", "-(a * b)"],
    ["(-a) * b", "-a * b"],
    ["!(a < b)", "!(a < b)"],
    ["(a < b) == (b < c)", "a < b == b < c"],
    ["(a == b) == (b == c)", "(a == b) == (b == c)"],
    ["(a < b && b < c) || c > a", "a < b && b < c || c > a"],
    ["a < b && (b < c || c > a)", "a < b && (b < c || c > a)"],
  ])("of %s is %s", (formula, text) => {
    expect(print(formula)).toBe(text);
  });

  test.each([
    ["a < b ? (b < c ? a : b) : (c < a ? b : c)", "a < b ? b < c ? a : b : c < a ? b : c"],
    ["(a < b ? a : b) < c ? a : b", "(a < b ? a : b) < c ? a : b"],
    ["(a < b ? a : b) + 1", "(a < b ? a : b) + 1"],
    ["rank((a < b ? a : b))", "rank(a < b ? a : b)"],
  ])("of the choice %s is %s", (formula, text) => {
    expect(print(formula)).toBe(text);
  });

  test.each([
    ["TS_CORR(a, b, 2 + 3)", "correlation(a, b, 5)"],
    ["ts_mean(d = 20, min_periods = 5, x = a)", "ts_mean(a, 20, min_periods=5)"],
    ["scale(a, 1)", "scale(a)"],
    ["scale(a, -0.5)", "scale(a, -0.5)"],
    ["group_neutralize(a, sector) * lambda", "group_neutralize(a, sector) * lambda"],
    ["add(a, power(b, 2.))", "a + b ^ 2"],
  ])("of the call %s is %s", (formula, text) => {
    expect(print(formula)).toBe(text);
  });

  test("of a derived series is what it stands for", () => {
    const names = { ...NAMES, fields: ["close", "volume"] };
    expect(printExpression(bindFormula("returns * adv20", names))).toBe(
      "(close / delay(close, 1) - 1) * ts_mean(close * volume, 20)",
    );
  });
});

describe("numbers", () => {
  test.each([
    0,
    1,
    0.1,
    1 / 3,
    5e-324,
    2.2250738585072014e-308,
    Number.MAX_VALUE,
    1e21,
    123456789012345680000,
    1e-7,
    -0,
    -1.5,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NaN,
  ])("%s reads back to the same double", (value) => {
    const root = call("power", [call("negate", [numberNode(value, AT)]), numberNode(value, AT)]);
    const read = bindFormula(printExpression(root), NAMES);
    expect(read).toMatchObject({ kind: "call", operator: { name: "power" }, constant: root.constant });
    const [left, right] = (read as CallNode).args;
    expect([left?.constant, right?.constant]).toEqual([-value, value]);
  });
});

describe("trees", () => {
  test("of a million levels are printed, to the left and to the right", () => {
    const a = bindFormula("a", NAMES);
    let [left, right] = [a, a];
    for (let level = 0; level < 1_000_000; level++) {
      left = call("subtract", [left, a]);
      right = call("power", [a, right]);
    }
    expect(printExpression(left) === `a${" - a".repeat(1_000_000)}`).toBe(true);
    expect(printExpression(right) === `${"a ^ ".repeat(1_000_000)}a`).toBe(true);
  });

  test("of many levels come back", () => {
    const terms = Array.from({ length: 50_000 }, (_, i) => (i % 2 ? `a ^ -b ^ ${i}` : `!(a < ${i} * b)`));
    const tree = bindFormula(terms.join(" - "), NAMES);
    expect(treeDifference(bindFormula(printExpression(tree), NAMES), tree)).toBeUndefined();
  });

  test("with a mistake have no text", () => {
    expect(() => printExpression(call("abs", [unknownNode(AT)]))).toThrow("has no formula");
  });

  const published = readdirSync(EXAMPLES).filter((file) => file.endsWith(".factors"));
  test.each(published)("of %s, whatever its dialect, come back in dialect native", (file) => {
    const text = readFileSync(new URL(file, EXAMPLES), "utf8");
    const dialect = statedDialect(text) ?? DIALECTS.native;
    const names = { fields: [...DEFAULT_FIELDS, ...dialect.fields], groups: DEFAULT_GROUPS };
    for (const { name, expression } of bindFile(text, names, dialect)) {
      const printed = printExpression(expression);
      expect(treeDifference(bindFormula(printed, names), expression), `${name} = ${printed}`).toBeUndefined();
    }
  });

  test.each(
    builtInRegistry.operators.flatMap(({ name, examples }) =>
      examples.map((example) => ({ name, ...example })),
    ),
  )("of the example $formula of $name come back", ({ formula, inputs }) => {
    const columns = Object.entries(inputs);
    const isGroup = ([, cells]: (typeof columns)[number]) => cells.some((cell) => typeof cell === "string");
    const names = {
      fields: columns.filter((column) => !isGroup(column)).map(([name]) => name),
      groups: columns.filter(isGroup).map(([name]) => name),
    };
    const tree = bindFormula(formula, names);
    expect(treeDifference(bindFormula(printExpression(tree), names), tree)).toBeUndefined();
  });
});
