import { describe, expect, test } from "vitest";
import { mistakes, parseAll, reshow, show } from "./show_syntax.ts";

describe("a statement goes on in the next line", () => {
  test("inside parentheses", () => {
    expect(reshow("rank(\n  close,\n  open\n)")).toBe("rank(close, open)");
    expect(reshow("(a +\n\n b)")).toBe("(a + b)");
    expect(reshow("f(a,\n  d = 5)")).toBe("f(a, d=5)");
    expect(reshow("f(\n  d = 5\n)")).toBe("f(d=5)");
  });

  test("but not outside of them", () => {
    expect(mistakes("a = x +\nb = y")).toEqual(["E102 1:8 expected an expression, but the statement ends"]);
  });
});

describe("let", () => {
  test("defines a name, or a function of parameters", () => {
    expect(parseAll("let v = (high + low) / 2\nlet f(x, d) = x * d\nlet g ( x ) = x")).toMatchObject([
      { kind: "let", name: "v", parameters: null },
      { kind: "let", name: "f", parameters: [{ name: "x" }, { name: "d" }] },
      { kind: "let", name: "g", parameters: [{ name: "x" }] },
    ]);
  });

  test.each([
    "let",
    "let = 5",
    "let x",
    "let x =",
    "let f() = 1",
    "let f(x,) = x",
    "let f(1) = 1",
    "let x = 1 2",
  ])("%s is one mistake", (text) => {
    expect(mistakes(text)).toHaveLength(1);
  });

  test("keywords are only whole words", () => {
    expect(parseAll("letter = parameter + whenever\ndialects = truex")).toMatchObject([
      { kind: "factor", name: "letter" },
      { kind: "factor", name: "dialects" },
    ]);
  });
});

describe("param", () => {
  test.each([
    ["param p", null],
    ["param p = 5", 5],
    ["param p = -0.5", -0.5],
    ["param p = 1e-3", 0.001],
    ['param p = "close"', "close"],
    ["param p = 'close'", "close"],
    ["param p = true", true],
    ["param p = false", false],
  ])("%s", (text, value) => {
    expect(parseAll(text)).toMatchObject([{ kind: "param", name: "p", default: value }]);
  });

  test.each([
    "param",
    "param = 5",
    "param p =",
    "param p = close",
    "param p = 1 + 1",
    "param p = - -1",
    "param p 5",
  ])("%s is one mistake", (text) => {
    expect(mistakes(text)).toHaveLength(1);
  });
});

describe("when", () => {
  const outline = (text: string) =>
    parseAll(text).map((statement) => {
      if (statement.kind === "blockStart") return `when ${show(statement.condition)} {`;
      if (statement.kind === "blockEnd") return "}";
      if (statement.kind !== "factor") return statement.kind;
      return statement.name + (statement.condition ? ` when ${show(statement.condition)}` : "");
    });

  test("opens a block of lines", () => {
    expect(outline("when p == 1 {\n a = x\n b = y\n}\nc = z")).toEqual([
      "when (p == 1) {",
      "a",
      "b",
      "}",
      "c",
    ]);
  });

  test("opens a block within a line", () => {
    expect(outline("when p == 1 { a = x }")).toEqual(["when (p == 1) {", "a", "}"]);
    expect(outline("when p { a = x } when q { b = y } c = z")).toEqual([
      "when p {",
      "a",
      "}",
      "when q {",
      "b",
      "}",
      "c",
    ]);
  });

  test("nests", () => {
    expect(outline("when p {\n when q { a = x\n }\n b = y\n}")).toEqual([
      "when p {",
      "when q {",
      "a",
      "}",
      "b",
      "}",
    ]);
  });

  test("may stand behind a factor", () => {
    expect(outline("a = x + 1 when p == 2 && q")).toEqual(["a when ((p == 2) && q)"]);
    expect(outline("when p { a = x when q }")).toEqual(["when p {", "a when q", "}"]);
  });

  test.each([
    ["when {\n}", "E102 1:6"],
    ["when p", "E102 1:7"],
    ["when p {", "E103 1:8"],
    ["}", "E103 1:1"],
    ["when p { a = x } }", "E103 1:18"],
    ["a = x when", "E102 1:11"],
    ["a = when", "E102 1:5"],
    ["let a = x when p", "E102 1:11"],
    ["a = x { }", "E102 1:7"],
  ])("%j is one mistake", (text, place) => {
    expect(mistakes(text)).toEqual([expect.stringContaining(`${place} `)]);
  });
});

describe("dialect", () => {
  test("is stated in a line of its own", () => {
    expect(parseAll("dialect alpha101\na = x")).toMatchObject([{ kind: "dialect", name: "alpha101" }, {}]);
  });

  test.each([
    "dialect",
    "dialect = alpha101",
    "dialect alpha101 native",
    'dialect "alpha101"',
  ])("%s is one mistake", (text) => {
    expect(mistakes(text)).toHaveLength(1);
  });
});
