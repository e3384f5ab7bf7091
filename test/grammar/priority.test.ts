import { describe, expect, test } from "vitest";
import { DIALECTS } from "../../grammar/dialects.ts";
import { parse, parseAll, reshow, show } from "./show_syntax.ts";

const factors = (text: string) =>
  parseAll(text).flatMap((statement) =>
    statement.kind === "factor" ? [[statement.name, show(statement.expression), statement.priority]] : [],
  );

describe("a priority", () => {
  test.each([
    ["a = x priority 10", 10],
    ["a = x priority -10", -10],
    ["a = x priority - 1000", -1000],
    ["a = x priority 1000", 1000],
    ["a = x priority 1e2", 100],
    ["a = x priority -0", 0],
    ["a = x", 0],
  ])("%s", (text, priority) => {
    expect(factors(text)).toEqual([["a", "x", priority]]);
  });

  test.each(["2", "null", "rank(x)", "(x + 1)", "c ? 1 : x"])("stands behind %s", (expression) => {
    expect(factors(`a = ${expression} priority 3`)).toEqual([["a", reshow(expression), 3]]);
  });

  test("stands behind a condition", () => {
    const text = 'a = x when p == "close" priority 3\nwhen q { b = y when p priority 4 }';
    expect(parseAll(text)).toMatchObject([
      { name: "a", condition: { kind: "call" }, priority: 3 },
      { kind: "blockStart" },
      { name: "b", condition: { name: "p" }, priority: 4 },
      { kind: "blockEnd" },
    ]);
  });

  test("stands behind a field of dialect qlib", () => {
    expect(parse("a = $close priority 3", DIALECTS.qlib)).toMatchObject({
      statements: [{ kind: "factor", priority: 3 }],
      diagnostics: [],
    });
  });
});

describe("priority is a name where a name may stand", () => {
  test.each([
    ["priority = close", ["priority", "close", 0]],
    ["a = priority", ["a", "priority", 0]],
    ["a = priority * 2", ["a", "(priority * 2)", 0]],
    ["a = -priority + (priority)", ["a", "((-priority) + priority)", 0]],
    ["a = priority priority 5", ["a", "priority", 5]],
    [
      "priority = priority(priority, priority=2) priority 5",
      ["priority", "priority(priority, priority=2)", 5],
    ],
    ["a = f(x,\n priority = 2)", ["a", "f(x, priority=2)", 0]],
    ["a = c ? priority : priority priority 1", ["a", "(c ? priority : priority)", 1]],
  ])("%s", (text, factor) => {
    expect(factors(text)).toEqual([factor]);
  });

  test("also of definitions and params", () => {
    expect(parseAll("let priority = 1\nlet f(priority) = priority\nparam priority = 2")).toMatchObject([
      { kind: "let", name: "priority" },
      { kind: "let", parameters: [{ name: "priority" }] },
      { kind: "param", name: "priority", default: 2 },
    ]);
  });
});

describe("a wrong priority is one mistake", () => {
  const NUMBER = "a priority is a whole number from -1000 to 1000";
  test.each([
    ["a = x priority", 1, 15, NUMBER],
    ["a = x priority 1.5", 1, 16, NUMBER],
    ["a = x priority -1001", 1, 16, NUMBER],
    ["a = x priority 1e999", 1, 16, NUMBER],
    ["a = x priority high", 1, 16, NUMBER],
    ["a = x priority - -1", 1, 18, NUMBER],
    ["a = x priority 'high'", 1, 16, NUMBER],
    ["a = x priority (1)", 1, 16, NUMBER],
    ["a = x priority 1 + 1", 1, 18, "expected the end of the line, but found '+'"],
    ["a = x priority 1 priority 2", 1, 18, "expected the end of the line, but found 'priority'"],
    ["a = x priority 1 when p", 1, 18, "expected the end of the line, but found 'when'"],
    ["a = rank(x priority 1)", 1, 12, "expected ')', but found 'priority'"],
    ["a = x +\nb = y\nlet c = x priority 1", 3, 11, "'let' has no priority"],
    ["param p = 1 priority 1", 1, 13, "'param' has no priority"],
    ["param p priority 1", 1, 9, "'param' has no priority"],
    ["when p priority 1 {\n}", 1, 8, "'when' has no priority"],
  ])("%j", (text, line, column, message) => {
    const found = parse(text).diagnostics.filter(({ code }) => code === "E109");
    expect(found).toMatchObject([{ line, column, message }]);
  });
});
