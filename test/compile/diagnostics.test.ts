import { describe, expect, test } from "vitest";
import { SOURCE_BYTES_MAX } from "../../src/limits.ts";
import { mistakes, rendered } from "./rendered.ts";

/** Every code of a formula's mistakes, with the whole message that a user sees. */

describe("E10x: the text", () => {
  test("E101 a character without a meaning", () => {
    expect(rendered("a = close ; b = open")).toMatchInlineSnapshot(`
      "E101 a.factors:1:11: ';' has no meaning in a formula
        | a = close ; b = open
        |           ^ remove it; each statement has a line of its own"
    `);
    expect(rendered('a = close when session == "close')).toMatchInlineSnapshot(`
      "E101 a.factors:1:27: this text in quotes is never closed
        | a = close when session == "close
        |                           ^ close it on the same line"
    `);
  });

  test("E102 a statement that cannot be read", () => {
    expect(rendered("a = close > 1 and open > 1")).toMatchInlineSnapshot(`
      "E102 a.factors:1:15: expected the end of the line, but found 'and'
        | a = close > 1 and open > 1
        |               ^^^ write && for and"
    `);
    expect(rendered("a = 0 < close < 1")).toMatchInlineSnapshot(`
      "E110 a.factors:1:15: comparisons do not chain
        | a = 0 < close < 1
        |               ^ write \`a < b && b < c\`, or use parentheses"
    `);
    expect(rendered("a = 1e999")).toMatchInlineSnapshot(`
      "E111 a.factors:1:5: 1e999 is too large for a number
        | a = 1e999
        |     ^^^^^ the largest number is about 1.8e308"
    `);
  });

  test("E103 a bracket that does not match", () => {
    expect(rendered("a = rank((close - open)\nb = volume")).toMatchInlineSnapshot(`
      "E103 a.factors:1:9: '(' is never closed
        | a = rank((close - open)
        |         ^ add a ')'"
    `);
    expect(rendered("a = close)")).toMatchInlineSnapshot(`
      "E103 a.factors:1:10: ')' closes nothing
        | a = close)
        |          ^ remove it, or add a '(' before"
    `);
    expect(rendered("param p = 1\nwhen p == 1 {\n  a = close")).toMatchInlineSnapshot(`
      "E103 a.factors:2:13: '{' is never closed
        | when p == 1 {
        |             ^ add a '}' on a line of its own"
    `);
  });

  test("E104 too deep", () => {
    expect(rendered(`a = ${"(".repeat(101)}close${")".repeat(101)}`)).toMatchInlineSnapshot(`
      "E104 a.factors:1:105: nested deeper than 100 levels
        | ...((((((((((((((((((((((((((((((((((((((((((((((((((((((((close)))))))))))))))))))))))))))))))))))))))))))))))))...
        |                                                           ^ give inner parts names of their own with let"
    `);
  });

  test("E104 too large", () => {
    expect(rendered("#".repeat(SOURCE_BYTES_MAX + 1)).split("\n")[0]).toMatchInlineSnapshot(
      `"E104 a.factors:1:1: the source has 16777217 bytes, the limit is 16777216"`,
    );
  });

  test("E106 no factor", () => {
    expect(rendered("")).toMatchInlineSnapshot(`
      "E106 a.factors:1:1: no factor in this file
        | 
        | ^ write name = expression"
    `);
    expect(rendered("\n\n# nothing yet\nlet v = close")).toMatchInlineSnapshot(`
      "E106 a.factors:1:1: no factor in this file
        | 
        | ^ write name = expression"
    `);
  });

  test("E107 no text", () => {
    expect(rendered("a = close\nb = \0\u0001")).toMatchInlineSnapshot(`
      "E107 a.factors:2:5: this is not a formula text: it contains bytes that are not UTF-8 text
        | b =
        |     ^ save it as plain text in UTF-8"
    `);
    expect(rendered("a = close \ufffd")).toMatchInlineSnapshot(`
      "E107 a.factors:1:11: this is not a formula text: it contains bytes that are not UTF-8 text
        | a = close �
        |           ^ save it as plain text in UTF-8"
    `);
  });

  test("E108 an unknown dialect", () => {
    expect(rendered("dialect alpha11\na = max(close, 2.5)")).toMatchInlineSnapshot(`
      "E108 a.factors:1:9: unknown dialect alpha11
        | dialect alpha11
        |         ^^^^^^^ did you mean alpha101?"
    `);
  });

  test("E109 a wrong priority", () => {
    expect(rendered("a = close priority -1000.5")).toMatchInlineSnapshot(`
      "E109 a.factors:1:20: a priority is a whole number from -1000 to 1000
        | a = close priority -1000.5
        |                    ^^^^^^^ write for example \`priority 10\`"
    `);
    expect(rendered("a = close priority high")).toMatchInlineSnapshot(`
      "E109 a.factors:1:20: a priority is a whole number from -1000 to 1000
        | a = close priority high
        |                    ^^^^ write for example \`priority 10\`"
    `);
    expect(rendered("a = close priority 1 when 1")).toMatchInlineSnapshot(`
      "E109 a.factors:1:22: expected the end of the line, but found 'when'
        | a = close priority 1 when 1
        |                      ^^^^ write \`when\` before \`priority\`"
    `);
    expect(rendered("a = close priority 1 + 1")).toMatchInlineSnapshot(`
      "E109 a.factors:1:22: expected the end of the line, but found '+'
        | a = close priority 1 + 1
        |                      ^ a priority is one number, the last of a factor"
    `);
    expect(rendered("let a = close priority 1")).toMatchInlineSnapshot(`
      "E109 a.factors:1:15: 'let' has no priority
        | let a = close priority 1
        |               ^^^^^^^^ write it at the end of a factor: \`name = expression priority 10\`"
    `);
    expect(rendered("a = rank(close priority 1)")).toMatchInlineSnapshot(`
      "E109 a.factors:1:16: expected ')', but found 'priority'
        | a = rank(close priority 1)
        |                ^^^^^^^^ write it at the end of a factor: \`name = expression priority 10\`"
    `);
  });
});

describe("E20x: names, arguments and types", () => {
  test("E201 an unknown function", () => {
    expect(rendered("a = if(close > open, 1, 0)")).toContain("write c ? a : b");
    expect(rendered("a = ts_maen(close, 5)")).toMatchInlineSnapshot(`
      "E201 a.factors:1:5: unknown function ts_maen
        | a = ts_maen(close, 5)
        |     ^^^^^^^ did you mean ts_mean?"
    `);
    expect(rendered("a = close(5)")).toMatchInlineSnapshot(`
      "E219 a.factors:1:5: close is not a function
        | a = close(5)
        |     ^^^^^ use it without parentheses"
    `);
  });

  test("E202 a wrong number of arguments, or a wrong name of one", () => {
    expect(rendered("a = ts_mean(close)")).toMatchInlineSnapshot(`
      "E202 a.factors:1:5: ts_mean expects 2 arguments, got 1
        | a = ts_mean(close)
        |     ^^^^^^^ it reads ts_mean(x, d)"
    `);
    expect(rendered("a = rank(close, 2, 3)")).toMatchInlineSnapshot(`
      "E202 a.factors:1:5: rank expects 1 argument, got 3
        | a = rank(close, 2, 3)
        |     ^^^^ it reads rank(x)"
    `);
    expect(rendered("a = ts_mean(close, 5, x=open)")).toMatchInlineSnapshot(`
      "E202 a.factors:1:23: x is given twice
        | a = ts_mean(close, 5, x=open)
        |                       ^ it reads ts_mean(x, d)"
    `);
    expect(rendered("a = ts_mean(close, days=5)")).toMatchInlineSnapshot(`
      "E202 a.factors:1:20: ts_mean has no argument days
        | a = ts_mean(close, days=5)
        |                    ^^^^ it reads ts_mean(x, d)"
    `);
    expect(
      rendered("let f(x, d) = ts_mean(x, d)\na = f(close)\nb = f(close, d=5)\nc = f + 1"),
    ).toMatchInlineSnapshot(`
      "E202 a.factors:2:5: f expects 2 arguments, got 1
        | a = f(close)
        |     ^ it reads f(x, d)
      E202 a.factors:3:5: f takes its arguments by position
        | b = f(close, d=5)
        |     ^ it reads f(x, d)
      E202 a.factors:4:5: f is used without its arguments
        | c = f + 1
        |     ^ it reads f(x, d)"
    `);
  });

  test("E203 a number out of range", () => {
    expect(rendered("a = ts_mean(close, 0)")).toMatchInlineSnapshot(`
      "E203 a.factors:1:20: ts_mean expects a window of 1..65536 rows, got 0
        | a = ts_mean(close, 0)
        |                    ^ use 1 for no smoothing"
    `);
    expect(rendered("a = ts_mean(close, -5)")).toMatchInlineSnapshot(`
      "E203 a.factors:1:20: ts_mean expects a window of 1..65536 rows, got -5
        | a = ts_mean(close, -5)
        |                    ^^ windows count back from the current row: write how many rows they have"
    `);
    expect(rendered("a = ts_mean(close, 65537)")).toMatchInlineSnapshot(`
      "E203 a.factors:1:20: ts_mean expects a window of 1..65536 rows, got 65537
        | a = ts_mean(close, 65537)
        |                    ^^^^^ use at most 65536"
    `);
    expect(rendered("a = ts_mean(close, 2.5)")).toMatchInlineSnapshot(`
      "E203 a.factors:1:20: ts_mean expects a whole number of rows, got 2.5
        | a = ts_mean(close, 2.5)
        |                    ^^^ use 2 (dialect alpha101 rounds down by itself)"
    `);
    expect(rendered("a = ts_mean(close, 5, min_periods=6)")).toMatchInlineSnapshot(`
      "E203 a.factors:1:35: min_periods of ts_mean is a whole number from 1 to its window of 5 rows
        | a = ts_mean(close, 5, min_periods=6)
        |                                   ^ use 5 to allow no nulls"
    `);
    expect(rendered("a = scale(close, 1 / 0)")).toMatchInlineSnapshot(`
      "E203 a.factors:1:18: scale expects a finite number as a, got Infinity
        | a = scale(close, 1 / 0)
        |                  ^^^^^ write a finite number"
    `);
  });

  test("E204 a wrong type", () => {
    expect(rendered("a = close ? 1 : 2")).toMatchInlineSnapshot(`
      "E204 a.factors:1:5: '?:' expects a condition, got a series
        | a = close ? 1 : 2
        |     ^^^^^ compare it with something, e.g. x != 0"
    `);
    expect(rendered("a = sector + 1")).toMatchInlineSnapshot(`
      "E204 a.factors:1:5: '+' expects a series, got the group column sector
        | a = sector + 1
        |     ^^^^^^ use a field or a formula; a column that holds text is a group"
    `);
    expect(rendered("a = indneutralize(close, open)")).toMatchInlineSnapshot(`
      "E204 a.factors:1:26: group_neutralize expects a group column, got a series
        | a = indneutralize(close, open)
        |                          ^^^^ e.g. sector"
    `);
    expect(rendered("a = sector")).toMatchInlineSnapshot(`
      "E204 a.factors:1:5: factor a is a group, not a series
        | a = sector
        |     ^^^^^^ use let for groups; a column that holds text is a group"
    `);
    const eps = {
      fields: [],
      groups: ["eps"],
      groupReasons: new Map([["eps", '"n/a" in row 16 (line 17) is no number: leave such cells empty']]),
    };
    expect(rendered("a = eps", eps)).toMatchInlineSnapshot(`
      "E204 a.factors:1:5: factor a is a group, not a series
        | a = eps
        |     ^^^ use let for groups; eps is a group because "n/a" in row 16 (line 17) is no number: leave such cells empty"
    `);
    expect(rendered("let x = EPS\na = ts_mean(x, 2)", eps)).toContain(
      'use a field or a formula; eps is a group because "n/a" in row 16 (line 17) is no number: leave such cells empty',
    );
    expect(rendered('a = close + "x"')).toMatchInlineSnapshot(`
      "E204 a.factors:1:13: a text has no place in a formula
        | a = close + "x"
        |             ^^^ texts are for conditions over params"
    `);
    expect(rendered('param s = "x"\na = close * s')).toMatchInlineSnapshot(`
      "E204 a.factors:2:13: param s is a text, not a number
        | a = close * s
        |             ^ texts are for conditions over params"
    `);
  });

  test("E205 an unknown name", () => {
    expect(rendered("a = clsoe + 1")).toMatchInlineSnapshot(`
      "E205 a.factors:1:5: unknown name clsoe
        | a = clsoe + 1
        |     ^^^^^ did you mean close?"
    `);
    expect(rendered("a = price", { fields: ["open", "close"], groups: [] })).toMatchInlineSnapshot(`
      "E205 a.factors:1:5: unknown name price
        | a = price
        |     ^^^^^ fields: open, close; groups: none (--groups PATH adds those of a table)"
    `);
    expect(rendered("a = group_rank(close, sector)", { groups: [] })).toMatchInlineSnapshot(`
      "E205 a.factors:1:23: unknown name sector
        | a = group_rank(close, sector)
        |                       ^^^^^^ a group column: give the table that has it with --groups PATH"
    `);
    expect(rendered("a = IndClass.sector")).toMatchInlineSnapshot(`
      "E205 a.factors:1:5: unknown name IndClass.sector
        | a = IndClass.sector
        |     ^^^^^^^^^^^^^^^ write sector, or begin the file with: dialect alpha101"
    `);
    expect(rendered("a = adv20", { fields: ["close"] })).toMatchInlineSnapshot(`
      "E205 a.factors:1:5: unknown name volume, which adv20 is derived from
        | a = adv20
        |     ^^^^^ fields: close; groups: sector, industry, subindustry"
    `);
  });

  test("E206 a look ahead", () => {
    expect(rendered("a = delay(close, -1)")).toMatchInlineSnapshot(`
      "E206 a.factors:1:18: delay by -1 rows would look ahead
        | a = delay(close, -1)
        |                  ^^ delays count back from the current row: use 0 or more"
    `);
  });

  test("E207 a name that is taken", () => {
    expect(rendered("a = close\nlet a = open")).toMatchInlineSnapshot(`
      "E207 a.factors:2:5: a is defined twice
        | let a = open
        |     ^ the first definition stands in line 1; rename one"
    `);
    expect(rendered("param p = 1\nP = close")).toMatchInlineSnapshot(`
      "E207 a.factors:2:1: P and p differ in letter case only
        | P = close
        | ^ the first definition stands in line 1; rename one"
    `);
    expect(rendered("let Rank(x) = x\na = close")).toMatchInlineSnapshot(`
      "E207 a.factors:1:5: Rank is the name of an operator
        | let Rank(x) = x
        |     ^^^^ choose another name"
    `);
    expect(rendered("let f(x, X) = x\na = f(close, open)")).toMatchInlineSnapshot(`
      "E207 a.factors:1:10: parameter X is given twice
        | let f(x, X) = x
        |          ^ rename one"
    `);
    expect(rendered("dialect native\ndialect alpha101\na = close")).toMatchInlineSnapshot(`
      "E108 a.factors:2:1: the dialect is stated twice
        | dialect alpha101
        | ^^^^^^^^^^^^^^^^ remove this line"
    `);
  });

  test("E208 a definition that uses itself", () => {
    expect(rendered("a = b + 1\nlet b = c * 2\nlet c = rank(a)")).toMatchInlineSnapshot(`
      "E208 a.factors:1:1: a uses itself: a -> b -> c -> a
        | a = b + 1
        | ^ a definition may only use others"
    `);
    expect(rendered("a = a")).toMatchInlineSnapshot(`
      "E208 a.factors:1:1: a uses itself: a -> a
        | a = a
        | ^ a definition may only use others"
    `);
  });

  test("E207 a name that cannot be defined", () => {
    expect(rendered("dialect qlib\n$a = Mean($close, 5)")).toMatchInlineSnapshot(`
      "E207 a.factors:2:1: $a cannot be defined: $ stands before fields
        | $a = Mean($close, 5)
        | ^^ write a"
    `);
  });

  test("E210 a window that is not known in advance", () => {
    expect(rendered("a = ts_mean(close, open)")).toMatchInlineSnapshot(`
      "E210 a.factors:1:20: ts_mean expects a number known in advance as d, got a series
        | a = ts_mean(close, open)
        |                    ^^^^ write a number"
    `);
    expect(rendered("param d = 5\na = ts_mean(close, d + 1)")).toMatchInlineSnapshot(`
      "E210 a.factors:2:20: ts_mean expects a number known in advance as d, got a param: it may differ from call to call
        | a = ts_mean(close, d + 1)
        |                    ^^^^^ write a number"
    `);
  });

  test("E213 a condition that does not depend on params alone", () => {
    expect(rendered("a = close when volume > 0")).toMatchInlineSnapshot(`
      "E213 a.factors:1:16: volume is not a param: conditions are evaluated once per call, from params alone
        | a = close when volume > 0
        |                ^^^^^^ declare it: param volume = ..."
    `);
    expect(rendered("param p = 1\na = close when rank(p) > 0")).toMatchInlineSnapshot(`
      "E213 a.factors:2:16: rank(...) in a condition
        | a = close when rank(p) > 0
        |                ^^^^^^^ use params, numbers, texts and operators"
    `);
    expect(rendered('param s = "x"\na = close when s > 3\nb = close when s')).toMatchInlineSnapshot(`
      "E213 a.factors:2:16: '>' does not work with a text here: texts are compared with texts, by == and !=
        | a = close when s > 3
        |                ^^^^^ compare like with like
      E213 a.factors:3:16: a text is not a condition
        | b = close when s
        |                ^ compare it with another, e.g. session == "close""
    `);
    expect(rendered("when nothing == 1 {\n}\na = close")).toMatchInlineSnapshot(`
      "E213 a.factors:1:6: nothing is not a param: conditions are evaluated once per call, from params alone
        | when nothing == 1 {
        |      ^^^^^^^ declare it: param nothing = ..."
    `);
  });

  test("E216 a recursion without a meaning", () => {
    expect(rendered("dialect gtja191\na = SELF * SELF")).toMatchInlineSnapshot(`
      "E216 a.factors:2:5: SELF may stand alone, times something, plus something, or in the branches of ?:
        | a = SELF * SELF
        |     ^^^^^^^^^^^ e.g. c ? x * SELF + y : SELF"
    `);
  });
});

describe("one run reports all", () => {
  test("five mistakes of different kinds, in the order of the text", () => {
    const text = [
      "# factors of the desk",
      "momentum = ts_mean(clsoe, 20)",
      "let spread = (high - low",
      "reversal = -delta(close, -5)",
      "value = ranks(close / vwap)",
      "size = rank(close, volume)",
      "good = rank(spread)",
    ].join("\n");
    expect(rendered(text)).toMatchInlineSnapshot(`
      "E205 a.factors:2:20: unknown name clsoe
        | momentum = ts_mean(clsoe, 20)
        |                    ^^^^^ did you mean close?
      E103 a.factors:3:14: '(' is never closed
        | let spread = (high - low
        |              ^ add a ')'
      E206 a.factors:4:26: delta by -5 rows would look ahead
        | reversal = -delta(close, -5)
        |                          ^^ delays count back from the current row: use 0 or more
      E201 a.factors:5:9: unknown function ranks
        | value = ranks(close / vwap)
        |         ^^^^^ did you mean rank?
      E202 a.factors:6:8: rank expects 1 argument, got 2
        | size = rank(close, volume)
        |        ^^^^ it reads rank(x)"
    `);
  });

  test("several in one formula", () => {
    expect(mistakes("a = ts_mean(clsoe, 0) + foo(open) * delay(opne, -1)")).toEqual([
      "E205 1:13 unknown name clsoe",
      "E203 1:20 ts_mean expects a window of 1..65536 rows, got 0",
      "E201 1:25 unknown function foo",
      "E205 1:43 unknown name opne",
      "E206 1:49 delay by -1 rows would look ahead",
    ]);
  });

  test("a mistake counts once, wherever its definition is used", () => {
    const text = "let m = ts_mean(close, 0)\nlet f(x) = ranks(x)\na = m\nb = m + f(m)\nc = f(open)";
    expect(mistakes(text)).toEqual([
      "E203 1:24 ts_mean expects a window of 1..65536 rows, got 0",
      "E201 2:12 unknown function ranks",
    ]);
  });

  test("what a broken statement would have defined is not unknown", () => {
    const text = [
      "let m = (close",
      "let f(x = x",
      "param p = close",
      "g = close $ 1",
      "a = m + f(close) * g",
      "b = close when p == 1",
      "c = ts_mean(close, m)",
    ].join("\n");
    expect(mistakes(text).map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
      "E103 1:9",
      "E103 2:6",
      "E102 3:11",
      "E101 4:11",
    ]);
  });

  test("no more than a hundred are listed", () => {
    const text = Array.from({ length: 500 }, (_, i) => `a${i} = nothing${i}`).join("\n");
    expect(mistakes(text)).toHaveLength(100);
    expect(rendered(text)).toMatch(/\nonly the first 100 mistakes are listed$/);
    const unreadable = Array.from({ length: 500 }, (_, i) => `a${i} = = ${i}`).join("\n");
    expect(mistakes(unreadable)).toHaveLength(100);
  });

  test("a byte-order mark does not move columns", () => {
    expect(mistakes("\ufeffa = clsoe")).toEqual(["E205 1:5 unknown name clsoe"]);
  });

  test.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ])("lines end with %s", (_, lineBreak) => {
    expect(mistakes(["a = close", "b = clsoe", "c = opne"].join(lineBreak))).toEqual([
      "E205 2:5 unknown name clsoe",
      "E205 3:5 unknown name opne",
    ]);
  });
});
