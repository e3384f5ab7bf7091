import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { StatementSyntax, Syntax } from "../../grammar/syntax.ts";
import { parse, parseAll, parseExpression, show } from "./show_syntax.ts";

/** Every expression of a statement with all below it. */
function expressionsOf(statement: StatementSyntax): Syntax[] {
  const pending: Syntax[] = [];
  if ("expression" in statement) pending.push(statement.expression);
  if ("condition" in statement && statement.condition) pending.push(statement.condition);
  const all: Syntax[] = [];
  for (let item = pending.pop(); item; item = pending.pop()) {
    all.push(item);
    if (item.kind === "call") pending.push(...item.args, ...item.named.map(({ value }) => value));
  }
  return all;
}

/** The slice of each node, parsed by itself, must be that node. */
function expectExactSpans(text: string): void {
  for (const statement of parse(text).statements) {
    for (const node of expressionsOf(statement)) {
      const slice = text.slice(node.start, node.end);
      expect(slice).toBe(slice.trim());
      const [again] = parseAll(`x = (${slice})`);
      expect(again?.kind === "factor" && show(again.expression), slice).toBe(show(node));
    }
  }
}

describe("spans", () => {
  test("of names, numbers, texts and calls are exactly what is written", () => {
    const text = '  a  =  f( close ,\t2.50, d = "x" ) when  p';
    const [statement] = parseAll(text);
    const slices = expressionsOf(statement as StatementSyntax).map(({ start, end }) =>
      text.slice(start, end),
    );
    expect(slices.sort()).toEqual(['"x"', "2.50", "close", 'f( close ,\t2.50, d = "x" )', "p"].sort());
  });

  test("of statements reach from the first token to the last", () => {
    const text = " let  f(x , y) = x * y \n  a = f(b, 2)  when p\nparam p = 5 # five\n dialect  native\n";
    const slices = parseAll(text).map(({ start, end }) => text.slice(start, end));
    expect(slices).toEqual([
      "let  f(x , y) = x * y",
      "a = f(b, 2)  when p",
      "param p = 5",
      "dialect  native",
    ]);
    const names = parseAll(text).map((statement) => {
      return "nameSpan" in statement ? text.slice(statement.nameSpan.start, statement.nameSpan.end) : "";
    });
    expect(names).toEqual(["f", "a", "p", "native"]);
  });

  test("of named arguments and parameters are their names", () => {
    const text = "let f(x , yy) = g(x, d = yy)";
    const [statement] = parseAll(text);
    if (statement?.kind !== "let" || statement.expression.kind !== "call") throw new Error("not a let");
    const slice = ({ start, end }: { start: number; end: number }) => text.slice(start, end);
    expect(statement.parameters?.map(slice)).toEqual(["x", "yy"]);
    expect(statement.expression.named.map(slice)).toEqual(["d"]);
  });

  test("of operators reach from operand to operand, with the parentheses around them", () => {
    const slice = (text: string) => {
      const { start, end } = parseExpression(text);
      return `factor = ${text}`.slice(start, end);
    };
    expect(slice("(a + b) * c")).toBe("(a + b) * c");
    expect(slice("-(a)")).toBe("-(a)");
    expect(slice("((a) + (b))")).toBe("(a) + (b)");
    expect(slice("(a) ? (b) : (c)")).toBe("(a) ? (b) : (c)");
    expect(slice("((a))")).toBe("a");
    expectExactSpans("a = -x^2 + b * (c - d) / !e\nb = p ? q : r ? s : t\nc = ((a)) + (b)");
  });

  test("are exact behind comments, CRLF and characters beyond the basic plane", () => {
    const text = "# \u{1f600} é\r\na = close + open # x\r\nb = rank(\r\n close)";
    const slices = parseAll(text).map(({ start, end }) => text.slice(start, end));
    expect(slices).toEqual(["a = close + open", "b = rank(\r\n close)"]);
  });

  test("of all nodes of the 101 formulas are exact", () => {
    expectExactSpans(readFileSync(new URL("../../examples/alpha101.factors", import.meta.url), "utf8"));
  });
});
