import { EOF, type ILexingError, type IToken } from "chevrotain";
import type { Diagnostic } from "../src/errors.ts";
import { DIAGNOSTICS_MAX } from "../src/limits.ts";
import type { Source, Span } from "../src/text/source.ts";
import { FormulaParser } from "./parser.ts";
import { splitStatements } from "./statements.ts";
import type { StatementSyntax } from "./syntax.ts";
import { lexer } from "./tokens.ts";

/** The one parser: its analysis of the grammar takes longer than reading most files. */
export const parser = new FormulaParser();

/**
 * Parses a formula file: the statements that can be read, and one diagnostic for each that cannot.
 *
 * @example
 * const { statements, diagnostics } = parseFormulas(new Source("a.factors", "spread = high - low"));
 */
export function parseFormulas(source: Source): { statements: StatementSyntax[]; diagnostics: Diagnostic[] } {
  const lexed = lexer.tokenize(source.text);
  const lexicalErrors = lexed.errors.slice(0, DIAGNOSTICS_MAX);
  const { statements: tokenRuns, diagnostics } = splitStatements(source, lexed.tokens);
  diagnostics.push(...lexicalErrors.map((error) => lexicalDiagnostic(source, error)));
  const statements: StatementSyntax[] = [];
  for (const tokens of tokenRuns) {
    const result = parseStatement(tokens);
    if ("kind" in result) statements.push(result);
    else if (!lexicalErrors.some((error) => isWithin(error, tokens))) {
      // A character that was left out has been reported and explains what else is wrong.
      diagnostics.push(
        source.diagnostic("E102", result, result.message, "a statement reads `name = expression`"),
      );
    }
    if (diagnostics.length >= DIAGNOSTICS_MAX) break;
  }
  parser.input = [];
  return { statements, diagnostics };
}

interface SyntaxProblem extends Span {
  readonly message: string;
}

function parseStatement(tokens: IToken[]): StatementSyntax | SyntaxProblem {
  parser.input = tokens;
  const statement = parser.statement();
  const error = parser.errors[0];
  if (error) return { ...spanOf(error.token, tokens), message: error.message };
  const chained = parser.chained[0];
  if (!chained) return statement;
  const message = "comparisons do not chain: write `a < b && b < c`, or use parentheses";
  return { ...spanOf(chained, tokens), message };
}

/** Where a token stands; the end of the statement stands behind its last token. */
function spanOf(token: IToken, tokens: readonly IToken[]): Span {
  const last = tokens.at(-1) as IToken;
  const isEnd = token.tokenType === EOF;
  const start = isEnd ? last.startOffset + last.image.length : token.startOffset;
  return { start, end: start + (isEnd ? 1 : token.image.length) };
}

function isWithin(error: ILexingError, tokens: readonly IToken[]): boolean {
  const first = tokens[0] as IToken;
  const last = tokens.at(-1) as IToken;
  return error.offset >= first.startOffset - 1 && error.offset <= last.startOffset + last.image.length + 1;
}

function lexicalDiagnostic(source: Source, error: ILexingError): Diagnostic {
  const span = { start: error.offset, end: error.offset + error.length };
  const character = String.fromCodePoint(source.text.codePointAt(error.offset) as number);
  if (character === '"' || character === "'") {
    return source.diagnostic(
      "E101",
      span,
      "this text in quotes is never closed",
      "close it on the same line",
    );
  }
  const message = `${JSON.stringify(character)} has no meaning in a formula`;
  return source.diagnostic("E101", span, message, "remove it");
}
