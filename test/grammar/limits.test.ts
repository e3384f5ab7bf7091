import { describe, expect, test } from "vitest";
import type { Syntax } from "../../grammar/syntax.ts";
import { createLexer } from "../../grammar/tokens.ts";
import { DIAGNOSTICS_MAX, NESTING_LEVELS_MAX } from "../../src/limits.ts";
import { mistakes, parse } from "./show_syntax.ts";

const nested = {
  parentheses: (levels: number) => `a = ${"(".repeat(levels)}close${")".repeat(levels)}`,
  calls: (levels: number) => `a = ${"f(".repeat(levels)}close${")".repeat(levels)}`,
  "named arguments": (levels: number) => `a = ${"f(x=".repeat(levels)}close${")".repeat(levels)}`,
  "inner ternaries": (levels: number) => `a = ${"p ? ".repeat(levels)}close${" : 1".repeat(levels)}`,
  "ternaries in parentheses": (levels: number) =>
    `a = ${"(p ? ".repeat(levels / 2)}close${" : 1)".repeat(levels / 2)}`,
  blocks: (levels: number) => `${"when p {\n".repeat(levels)}a = close\n${"}\n".repeat(levels)}`,
};
const LIMIT = NESTING_LEVELS_MAX;

describe.each(Object.entries(nested))("nesting of %s", (_, nest) => {
  test("is accepted up to the limit", () => {
    expect(mistakes(nest(LIMIT))).toEqual([]);
  });

  test.each([LIMIT + 2, 400, 10_000, 100_000])("is one mistake with %d levels", (levels) => {
    expect(mistakes(nest(levels))).toEqual([
      expect.stringMatching(/^E104 \d+:\d+ (blocks are )?nested deeper than 100 levels$/),
    ]);
  });
});

test("101 levels are one too many", () => {
  expect(mistakes(nested.parentheses(LIMIT + 1))).toEqual(["E104 1:105 nested deeper than 100 levels"]);
  expect(mistakes(nested.blocks(LIMIT + 1))).toEqual(["E104 101:8 blocks are nested deeper than 100 levels"]);
});

test("levels end with what opened them", () => {
  const side = `${"(".repeat(99)}close${")".repeat(99)}`;
  expect(mistakes(`a = (${side} + ${side}) ? ${side} : ${side}\nb = ${side}`)).toEqual([]);
});

test("what follows a statement that is nested too deep is read", () => {
  const { statements, diagnostics } = parse(`${nested.parentheses(1000)}\nb = open`);
  expect(statements).toMatchObject([
    { kind: "broken", name: "a" },
    { kind: "factor", name: "b" },
  ]);
  expect(diagnostics).toHaveLength(1);
});

describe("what is long but not deep is no problem", () => {
  const chains: [string, (terms: number) => string][] = [
    ["+", (terms) => `close${"+close".repeat(terms)}`],
    ["^", (terms) => `close${"^close".repeat(terms)}`],
    ["&&", (terms) => `close${"&&close".repeat(terms)}`],
    ["prefix -", (terms) => `${"-".repeat(terms)}close`],
    ["ternaries", (terms) => `${"close?1:".repeat(terms)}close`],
  ];
  test.each(chains)("a chain of 200,000 %s", (_, chain) => {
    const { statements, diagnostics } = parse(`a = ${chain(200_000)}`);
    expect(diagnostics).toEqual([]);
    expect(callCount(statements[0]?.kind === "factor" ? statements[0].expression : undefined)).toBe(200_000);
  });

  test("a call with 200,000 arguments", () => {
    expect(mistakes(`a = f(${"close,".repeat(200_000)}close)`)).toEqual([]);
  });

  test("200,000 statements", () => {
    expect(parse("a = b\n".repeat(200_000)).statements).toHaveLength(200_000);
  });
});

test("the number of tokens grows with the text alone", () => {
  const lexer = createLexer([]);
  const count = (terms: number) => lexer.tokenize(`a = ${"(close)+".repeat(terms)}1`).tokens.length;
  expect(count(2000) - count(1000)).toBe(count(1000) - count(0));
  expect(count(1)).toBe(count(0) + 4);
});

describe("hostile texts end in a limited number of diagnostics", () => {
  const texts: [string, string][] = [
    ["closing braces", "}".repeat(300_000)],
    ["opening braces", "{".repeat(300_000)],
    ["opening braces on lines", "when p {\n".repeat(100_000)],
    ["closing parentheses", ")\n".repeat(300_000)],
    ["opening parentheses", "(".repeat(300_000)],
    ["characters without a meaning", "$ a ".repeat(100_000)],
    ["open quotes", '"\n'.repeat(100_000)],
    ["broken statements", "a = =\n".repeat(100_000)],
    ["question marks", "a = ".concat("?".repeat(300_000))],
    ["colons", "a = ".concat(":".repeat(300_000))],
    ["line ends", "\n".repeat(300_000)],
  ];
  test.each(texts)("%s", (_, text) => {
    expect(parse(text).diagnostics.length).toBeLessThanOrEqual(DIAGNOSTICS_MAX);
  });
});

/** Calls of an expression that may be too deep for a recursive walk. */
function callCount(root: Syntax | undefined): number {
  let count = 0;
  const pending = root ? [root] : [];
  for (let item = pending.pop(); item; item = pending.pop()) {
    if (item.kind !== "call") continue;
    count += 1;
    pending.push(...item.args);
  }
  return count;
}
