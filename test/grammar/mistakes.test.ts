import { describe, expect, test } from "vitest";
import { mistakes, parse } from "./show_syntax.ts";

/** The remedy of the only mistake of a text. */
function remedyOf(text: string): string {
  const { diagnostics } = parse(text);
  expect(diagnostics).toHaveLength(1);
  return diagnostics[0]?.remedy ?? "";
}

/** Names of the statements that were read, a broken one with a `!`. */
function read(text: string): string[] {
  return parse(text).statements.map((statement) => {
    const name = "name" in statement ? statement.name : statement.kind;
    return statement.kind === "broken" ? `!${name}` : name;
  });
}

describe("a forgotten parenthesis does not swallow the next statement", () => {
  test.each([
    ["a factor", "a = rank((close + 1\nb = open"],
    ["a factor behind empty lines and comments", "a = rank((close + 1\n\n# b\n\nb = open"],
    ["a let", "a = rank((close\nlet b = open"],
    ["a let behind a comma", "a = rank(close,\nlet b = open"],
    ["a let with parameters", "a = rank((close\nlet b(x) = x"],
    ["a param", "a = rank((close\nparam b = 1"],
    ["the end of a block", "when 1 { a = rank((close }\nb = open"],
  ])("%s", (_, text) => {
    expect(mistakes(text)).toEqual([expect.stringMatching(/^E103 1:\d+ '\(' is never closed$/)]);
    expect(read(text).filter((name) => /^!?[ab]$/.test(name))).toEqual(["!a", "b"]);
  });

  test("a block", () => {
    const text = "a = rank((close\nwhen 1 {\n b = open\n}";
    expect(mistakes(text)).toEqual(["E103 1:10 '(' is never closed"]);
    expect(read(text)).toEqual(["!a", "blockStart", "b", "blockEnd"]);
  });

  test("while a named argument on its own line is not a statement", () => {
    expect(read("a = f(close,\n d = 5)\nb = f(\n d = 5\n)")).toEqual(["a", "b"]);
    expect(mistakes("a = f(close +\n b\n)")).toEqual([]);
  });
});

describe("brackets that do not match", () => {
  test.each([
    ["a = (close", "E103 1:5 '(' is never closed"],
    ["a = f(g(close)", "E103 1:6 '(' is never closed"],
    ["a = close)", "E103 1:10 ')' closes nothing"],
    ["a = )close(", "E103 1:5 ')' closes nothing"],
    ["a = (close))\nb = open", "E103 1:12 ')' closes nothing"],
    ["a = close }", "E103 1:11 '}' closes nothing"],
    ["when 1 {\na = close", "E103 1:8 '{' is never closed"],
  ])("%j", (text, expected) => {
    expect(mistakes(text)).toEqual([expected]);
  });
});

describe("one diagnostic per broken statement", () => {
  test("however much is wrong in it", () => {
    expect(mistakes("a = = = 3 4 ) ( 5 $\nb = $ & | $\nc = close close (")).toHaveLength(3);
  });

  test("and all of them in one run", () => {
    expect(
      mistakes("a = close +\nb = open\nc = rank(close,)\nlet = 5\nd = (close\ne = close $ 2\nf == close"),
    ).toEqual([
      "E102 1:12 expected an expression, but the statement ends",
      "E102 3:16 expected an expression, but found ')'",
      "E102 4:5 expected a name, but found '='",
      "E103 5:5 '(' is never closed",
      "E101 6:11 '$' has no meaning in a formula",
      "E102 7:3 expected '=', but found '=='",
    ]);
  });

  test("what it would have defined is known to be broken", () => {
    expect(
      read("a = close +\nlet b = (1\nparam c = close\nlet f( = 1\nd = $\nlet\ndialect = native"),
    ).toEqual(["!a", "!b", "!c", "!f", "!d", "!="]);
  });
});

describe("the remedy fits the mistake", () => {
  test.each([
    ["a = close > 1 and open > 1", "write && for and"],
    ["a = close > 1 OR open > 1", "write || for OR"],
    ["a = not close > 1", "write ! for not"],
    ["a = close ** 2", "write ^ for **"],
    ["a = close <> 2", "write != for <>"],
    ["a = close = 2", "write == to compare"],
    ["let a = close = 2", "write == to compare"],
    ["a = rank(close,)", "remove the comma before it"],
    ["a = close +", "only inside parentheses does a statement go on in the next line"],
    ["a = close > 1 == true", "write 1 for true and 0 for false"],
    ["a = close open", "write an operator between them, or one name with a space as `close open`"],
    ["a = close  open", "write an operator before it, or put it on a line of its own"],
    ["a = close * / open", "something is missing before it"],
    ["a == close", "a statement reads `name = expression`"],
    ["close", "a statement reads `name = expression`"],
    ["let x", "it reads `let name = expression`, or `let name(x, d) = expression`"],
    ["param x = close", 'it reads `param name = 0.5`, `param name = "text"` or `param name = true`'],
    ["when p == 1", "it reads `when condition {`, then factors, then `}`"],
    ["dialect = alpha101", "it reads `dialect alpha101`"],
    ["a = 1 < 2 < 3", "write `a < b && b < c`, or use parentheses"],
    ["a = if close > 2 then 1 else 0", "write c ? a : b for: if c then a else b"],
    ["a = if (close > 2) then 1 else 0", "write c ? a : b for: if c then a else b"],
    ["a = close if close > 2 else open", "write c ? a : b for: if c then a else b"],
    ["LET x = close", "write let"],
    ["Param p = 1", "write param"],
    ["a := close", "a statement reads `name = expression`"],
    ["a = close; b = open", "remove it; each statement has a line of its own"],
    ["a = close \u2212 open", "write -"],
    ["a = close \u00d7 2", "write *"],
    ["a = close \u2264 2 ? 1 : 0", "write <="],
    ["a = rank\uff08close", "write ("],
    ["a = ts_mean(close\uff0c 5)", "write ,"],
    ["a = close + \uff15", "write 5"],
    ["a = close > 1 & open > 1", "write && for and"],
    ["a = $close", "write the name without it"],
    ["a = ts_mean[5]", "windows are arguments, e.g. ts_mean(close, 5)"],
    ["a = \u201cclose\u201d", "write straight quotes"],
    ["a = cl\u2603se", "remove it"],
    ["a = `close", "write it on one line, and `` for a backquote in it"],
    ["a = `` + close", "write it on one line, and `` for a backquote in it"],
    ["a = close\u00b7open", "write *"],
  ])("%s", (text, remedy) => {
    expect(remedyOf(text)).toBe(remedy);
  });
});

test("characters that cannot be seen are named by their number", () => {
  expect(mistakes("a = close\u200b\nb = \u0007close\nc = close\ud800")).toEqual([
    "E101 1:10 the character U+200B has no meaning in a formula",
    "E101 2:5 the character U+0007 has no meaning in a formula",
    "E101 3:10 the character U+D800 has no meaning in a formula",
  ]);
});
