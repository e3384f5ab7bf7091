import { describe, expect, test } from "vitest";
import { mistakes, parseAll, parseExpression, reshow } from "./show_syntax.ts";

describe("numbers", () => {
  test.each([
    [".5", 0.5],
    ["2.", 2],
    ["2.50", 2.5],
    ["1e-12", 1e-12],
    ["1E+3", 1000],
    [".5e1", 5],
    ["2.e2", 200],
    ["007", 7],
    ["0", 0],
    ["0.1", 0.1],
    ["12345678901234567890123", 1.2345678901234568e22],
    ["1e-999", 0],
  ])("%s is %d", (text, value) => {
    expect(parseExpression(text)).toMatchObject({ kind: "number", value });
  });

  test("a sign is an operator, no part of the number", () => {
    expect(reshow("1-2")).toBe("(1 - 2)");
    expect(reshow("-1")).toBe("(-1)");
    expect(reshow("1e5-2")).toBe("(100000 - 2)");
  });

  test.each(["1e999", "-1e999", "rank(close) * 1e400"])("%s is too large", (text) => {
    expect(mistakes(`x = ${text}`)).toEqual([
      expect.stringMatching(/^E111 1:\d+ 1e\d+ is too large for a number$/),
    ]);
  });

  test.each(["1.2.3", "1e", "0x10", "1_000", "5d"])("%s is no number", (text) => {
    expect(mistakes(`x = ${text}`)).toHaveLength(1);
  });
});

describe("texts", () => {
  test("stand in double or single quotes and may hold the other, a #, or //", () => {
    const texts = `param a = "it's"\nparam b = 'say "x"'\nparam c = "# no // comment"\nparam d = ""`;
    expect(parseAll(texts)).toMatchObject([
      { default: "it's" },
      { default: 'say "x"' },
      { default: "# no // comment" },
      { default: "" },
    ]);
  });

  test("end with their line", () => {
    expect(mistakes('param a = "open\nb = close')).toEqual(["E101 1:11 this text in quotes is never closed"]);
  });
});

describe("blanks", () => {
  test.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ])("%s ends a statement", (_, lineBreak) => {
    const names = parseAll(["a = x", "", "b = y", ""].join(lineBreak)).map((statement) => {
      return "name" in statement ? statement.name : "";
    });
    expect(names).toEqual(["a", "b"]);
  });

  test("tabs, form feeds and no-break spaces stand between tokens", () => {
    expect(reshow("a\t+\f b\u00a0*\v c")).toBe("(a + (b * c))");
  });

  test.each([
    "# whole line\n",
    "a = x # after\n",
    "a = x // after\n",
    "   // indented\n",
  ])("%j is a comment to its end", (comment) => {
    const rest = "b = y";
    expect(parseAll(comment + rest).at(-1)).toMatchObject({ kind: "factor", name: "b" });
  });

  test("a comment may stand inside parentheses that go on over lines", () => {
    expect(reshow("(a # first\n  + b // second\n)")).toBe("(a + b)");
  });

  test("a / b is no comment", () => {
    expect(reshow("a / b")).toBe("(a / b)");
  });
});
