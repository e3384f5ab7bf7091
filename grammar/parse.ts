import { EOF, type ILexingError, type IToken, type Lexer } from "chevrotain";
import type { Diagnostic } from "../src/errors.ts";
import { DIAGNOSTICS_MAX } from "../src/limits.ts";
import type { Source, Span } from "../src/text/source.ts";
import type { Dialect } from "./dialects.ts";
import { characterProblem, syntaxRemedy } from "./messages.ts";
import { FormulaParser } from "./parser.ts";
import { priorityProblem, readPriorities, WRONG_PRIORITY } from "./priority.ts";
import { type StatementTokens, splitStatements } from "./statements.ts";
import type { BrokenSyntax, StatementSyntax } from "./syntax.ts";
import {
  createLexer,
  DialectWord,
  EqualEqual,
  Equals,
  Identifier,
  Let,
  nameIn,
  ParamWord,
  When,
} from "./tokens.ts";

/** One shared parser: its analysis of the grammar takes longer than reading most files. */
export const parser = new FormulaParser();

/**
 * Parses a formula file into the statements that can be read, and one diagnostic for each that cannot.
 *
 * @example
 * const { statements, diagnostics } = parseFormulas(new Source("a.factors", "x = high - low"), DIALECTS.native);
 */
export function parseFormulas(
  source: Source,
  dialect: Dialect,
): { statements: StatementSyntax[]; diagnostics: Diagnostic[] } {
  const lexed = lexerOf(dialect).tokenize(source.text);
  const { runs, diagnostics } = splitStatements(source, lexed.tokens);
  const misread = reportCharacters(source, lexed.errors.slice(0, DIAGNOSTICS_MAX), runs, diagnostics);
  const statements: StatementSyntax[] = [];
  for (const run of runs) {
    if (dialect.equalsCompares) readEqualsAsComparison(run.tokens);
    readPriorities(run.tokens);
    const result = run.isBroken || misread.has(run) ? null : parseStatement(run.tokens);
    if (result && "kind" in result) statements.push(result);
    else statements.push(...brokenStatement(run.tokens));
    if (!result || "kind" in result) continue;
    diagnostics.push(source.diagnostic(result.code, result, result.message, result.remedy));
    if (diagnostics.length >= DIAGNOSTICS_MAX) break;
  }
  parser.input = [];
  return { statements, diagnostics: diagnostics.slice(0, DIAGNOSTICS_MAX) };
}

const lexers = new Map<string, Lexer>();

function lexerOf({ spellings }: Dialect): Lexer {
  const key = spellings.join(" ");
  const lexer = lexers.get(key) ?? createLexer(spellings);
  lexers.set(key, lexer);
  return lexer;
}

/** The first `=` of a statement defines; later ones compare, as does every one in a line that opens a block. */
function readEqualsAsComparison(tokens: readonly IToken[]): void {
  const isBlock = tokens[0]?.tokenType === When;
  const defining = isBlock ? -1 : tokens.findIndex(({ tokenType }) => tokenType === Equals);
  for (const token of tokens.slice(defining + 1)) {
    if (token.tokenType !== Equals) continue;
    token.tokenType = EqualEqual;
    token.tokenTypeIdx = EqualEqual.tokenTypeIdx as number;
  }
}

/** Reports the first unknown character of each statement; returns the affected statements. */
function reportCharacters(
  source: Source,
  errors: readonly ILexingError[],
  runs: readonly StatementTokens[],
  diagnostics: Diagnostic[],
): Set<StatementTokens> {
  const misread = new Set<StatementTokens>();
  for (const { offset, length } of errors) {
    const run = runAt(source, runs, offset);
    if (run && (run.isBroken || misread.has(run))) continue;
    if (run) misread.add(run);
    const character = String.fromCodePoint(source.text.codePointAt(offset) as number);
    const { message, remedy } = characterProblem(character);
    diagnostics.push(source.diagnostic("E101", { start: offset, end: offset + length }, message, remedy));
  }
  return misread;
}

/** The statement around an offset, else one on the same line. */
function runAt(source: Source, runs: readonly StatementTokens[], offset: number) {
  const lineOf = (token: IToken | undefined) => source.position(token?.startOffset ?? 0).line;
  const { line } = source.position(offset);
  const i = runs.findLastIndex(({ tokens }) => (tokens[0] as IToken).startOffset <= offset);
  const [before, after] = [runs[i], runs[i + 1]];
  if (before && lineOf(before.last) >= line) return before;
  return after && lineOf(after.tokens[0]) === line ? after : undefined;
}

interface SyntaxProblem extends Span {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

function parseStatement(tokens: readonly IToken[]): StatementSyntax | SyntaxProblem {
  parser.input = [...tokens];
  const statement = parser.statement();
  const error = parser.errors[0];
  if (error) {
    const span = spanOf(error.token, tokens);
    const problem = priorityProblem(error.token, error.message, tokens);
    if (problem) return misplacedPriority({ ...span, ...problem });
    return { code: "E102", ...span, message: error.message, remedy: syntaxRemedy(error.token, tokens) };
  }
  const chained = parser.chained[0];
  if (chained) {
    const remedy = "write `a < b && b < c`, or use parentheses";
    return {
      code: "E110",
      ...spanOf(chained, tokens),
      message: "comparisons do not chain",
      remedy,
    };
  }
  const wrongPriority = parser.wrongPriorities[0];
  if (wrongPriority) return misplacedPriority({ ...wrongPriority, ...WRONG_PRIORITY });
  const tooLarge = parser.tooLarge[0];
  if (!tooLarge) return statement;
  const remedy = "the largest number is about 1.8e308";
  return {
    code: "E111",
    ...spanOf(tooLarge, tokens),
    message: `${tooLarge.image} is too large for a number`,
    remedy,
  };
}

function misplacedPriority(problem: Omit<SyntaxProblem, "code">): SyntaxProblem {
  return { code: "E109", ...problem };
}

/** What an unreadable statement would have defined, as far as its first tokens show. */
function brokenStatement([first, second]: readonly IToken[]): BrokenSyntax[] {
  if (first?.tokenType === DialectWord) return [broken(first, second ?? first, "dialect")];
  if (first?.tokenType === Identifier) return [broken(first, first, null)];
  if (second?.tokenType !== Identifier) return [];
  if (first?.tokenType === Let) return [broken(first, second, "let")];
  return first?.tokenType === ParamWord ? [broken(first, second, "param")] : [];
}

function broken(first: IToken, name: IToken, keyword: BrokenSyntax["keyword"]): BrokenSyntax {
  const nameSpan = {
    start: name.startOffset,
    end: name.startOffset + name.image.length,
  };
  return {
    kind: "broken",
    keyword,
    name: nameIn(name),
    nameSpan,
    start: first.startOffset,
    end: nameSpan.end,
  };
}

/** The span of a token; the end of a statement lies behind its last token. */
function spanOf(token: IToken, tokens: readonly IToken[]): Span {
  const last = tokens.at(-1) as IToken;
  const isEnd = token.tokenType === EOF;
  const start = isEnd ? last.startOffset + last.image.length : token.startOffset;
  return { start, end: start + (isEnd ? 1 : token.image.length) };
}
