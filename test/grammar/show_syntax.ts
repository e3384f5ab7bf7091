import { DIALECTS } from "../../grammar/dialects.ts";
import { parseFormulas } from "../../grammar/parse.ts";
import type { StatementSyntax, Syntax } from "../../grammar/syntax.ts";
import { Source } from "../../src/text/source.ts";

/** A parsed expression with every pair of parentheses written out: `-x^2` is `(-(x ^ 2))`. */
export function show(syntax: Syntax): string {
  switch (syntax.kind) {
    case "number":
      return String(syntax.value);
    case "text":
      return JSON.stringify(syntax.value);
    case "name":
      return syntax.name;
    case "call": {
      const args = syntax.args.map(show);
      const [first, second, third] = args;
      if (syntax.name === "?:") return `(${first} ? ${second} : ${third})`;
      if (syntax.isSymbol) {
        return args.length === 1 ? `(${syntax.name}${first})` : `(${args.join(` ${syntax.name} `)})`;
      }
      const named = syntax.named.map(({ name, value }) => `${name}=${show(value)}`);
      return `${syntax.name}(${[...args, ...named].join(", ")})`;
    }
  }
}

/** Parses a text, with its mistakes. */
export function parse(text: string, dialect = DIALECTS.native): ReturnType<typeof parseFormulas> {
  return parseFormulas(new Source("test", text), dialect);
}

/** The statements of a text without mistakes. */
export function parseAll(text: string): StatementSyntax[] {
  const { statements, diagnostics } = parse(text);
  if (diagnostics.length > 0) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  return statements;
}

/** The expression of the only factor of a text. */
export function parseExpression(text: string): Syntax {
  const [statement] = parseAll(`factor = ${text}`);
  if (statement?.kind !== "factor") throw new Error("not a factor");
  return statement.expression;
}

/** An expression, parsed and shown. */
export function reshow(text: string): string {
  return show(parseExpression(text));
}

/** Mistakes of a text as `CODE line:column message`. */
export function mistakes(text: string): string[] {
  return parse(text)
    .diagnostics.toSorted((a, b) => a.line - b.line || a.column - b.column)
    .map(({ code, line, column, message }) => `${code} ${line}:${column} ${message}`);
}
