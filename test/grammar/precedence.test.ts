import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { INFIX } from "../../grammar/precedence.ts";
import { mistakes, parseExpression, reshow, show } from "./show_syntax.ts";

describe("precedence", () => {
  test.each([
    ["-x^2", "(-(x ^ 2))"],
    ["2^-3^2", "(2 ^ (-(3 ^ 2)))"],
    ["2^-3*4", "((2 ^ (-3)) * 4)"],
    ["-x*y", "((-x) * y)"],
    ["a*-b", "(a * (-b))"],
    ["a - -b", "(a - (-b))"],
    ["--a", "(-(-a))"],
    ["!a && b", "((!a) && b)"],
    ["!!a", "(!(!a))"],
    ["!a == b", "((!a) == b)"],
    ["-a < b", "((-a) < b)"],
    ["a + b * c", "(a + (b * c))"],
    ["a * b + c", "((a * b) + c)"],
    ["a % b * c / d", "(((a % b) * c) / d)"],
    ["a * b ^ c", "(a * (b ^ c))"],
    ["a < b == c < d", "((a < b) == (c < d))"],
    ["a + b < c && d > e", "(((a + b) < c) && (d > e))"],
    ["a || b && c", "(a || (b && c))"],
    ["a && b || c", "((a && b) || c)"],
    ["a ? b : c || d", "(a ? b : (c || d))"],
    ["a || b ? c : d", "((a || b) ? c : d)"],
    ["(a + b) * c", "((a + b) * c)"],
    ["((((a))))", "a"],
    ["-(a + b)^2", "(-((a + b) ^ 2))"],
  ])("%s reads %s", (text, expected) => {
    expect(reshow(text)).toBe(expected);
  });
});

describe("associativity", () => {
  test.each([
    ["a - b - c", "((a - b) - c)"],
    ["a / b / c", "((a / b) / c)"],
    ["a - b + c", "((a - b) + c)"],
    ["a % b % c", "((a % b) % c)"],
    ["a ^ b ^ c", "(a ^ (b ^ c))"],
    ["a ^ -b ^ -c", "(a ^ (-(b ^ (-c))))"],
    ["a && b && c", "((a && b) && c)"],
    ["a || b || c", "((a || b) || c)"],
    ["a ? b : c ? d : e", "(a ? b : (c ? d : e))"],
    ["a ? b : c ? d : e ? f : g", "(a ? b : (c ? d : (e ? f : g)))"],
    ["a ? b ? c : d : e", "(a ? (b ? c : d) : e)"],
    ["a ? b ? c : d : e ? f : g", "(a ? (b ? c : d) : (e ? f : g))"],
    ["(a ? b : c) ? d : e", "((a ? b : c) ? d : e)"],
  ])("%s reads %s", (text, expected) => {
    expect(reshow(text)).toBe(expected);
  });

  test.each([
    "a < b < c",
    "a < b <= c",
    "a > -b > c",
    "a == b != c",
    "a == b < c == d",
  ])("comparisons do not chain: %s", (text) => {
    expect(mistakes(`x = ${text}`)).toEqual([expect.stringMatching(/^E110 1:\d+ comparisons do not chain$/)]);
  });

  test.each([
    "(a < b) < c",
    "a < b && b < c",
    "(a == b) != c",
  ])("but with parentheses they do: %s", (text) => {
    expect(mistakes(`x = ${text}`)).toEqual([]);
  });
});

/** An expression tree with operators of every level, written without parentheses where precedence needs none. */
const tree = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom("a", "b", "1", "2.5"),
    fc.tuple(tie("node"), fc.constantFrom(...Object.keys(INFIX)), tie("node")).map(([x, op, y]) => {
      return `(${x} ${op} ${y})`;
    }),
    fc.tuple(fc.constantFrom("-", "!"), tie("node")).map(([op, x]) => `(${op}${x})`),
    fc.tuple(tie("node"), tie("node"), tie("node")).map(([c, x, y]) => `(${c} ? ${x} : ${y})`),
    fc.tuple(tie("node"), tie("node")).map(([x, y]) => `f(${x}, d=${y})`),
  ),
})).node;

describe("properties", () => {
  test("what is shown with all its parentheses is read back as the same", () => {
    fc.assert(
      fc.property(tree, (text) => {
        expect(reshow(text)).toBe(text);
      }),
      { seed: 101, numRuns: 300 },
    );
  });

  test("an infix chain reads as the table of precedence says, whatever its operators", () => {
    const symbols = Object.keys(INFIX).filter((symbol) => INFIX[symbol]?.associativity !== "none");
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...symbols), { maxLength: 8 }), (operators) => {
        const text = operators
          .map((symbol, i) => `x${i} ${symbol} `)
          .concat("last")
          .join("");
        const names = [...operators.map((_, i) => `x${i}`), "last"];
        expect(show(parseExpression(text))).toBe(bracket(names, operators));
      }),
      { seed: 102, numRuns: 300 },
    );
  });
});

/** The textbook definition: the operator that binds loosest is the root, the last (or first) of equals. */
function bracket(names: readonly string[], operators: readonly string[]): string {
  if (operators.length === 0) return names[0] as string;
  let root = 0;
  operators.forEach((symbol, i) => {
    const { level, associativity } = INFIX[symbol] as (typeof INFIX)[string];
    const rootLevel = INFIX[operators[root] as string]?.level as number;
    if (level < rootLevel || (level === rootLevel && associativity === "left")) root = i;
  });
  const left = bracket(names.slice(0, root + 1), operators.slice(0, root));
  const right = bracket(names.slice(root + 1), operators.slice(root + 1));
  return `(${left} ${operators[root]} ${right})`;
}
