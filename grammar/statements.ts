import type { IToken } from "chevrotain";
import type { Diagnostic } from "../src/errors.ts";
import { NESTING_LEVELS_MAX } from "../src/limits.ts";
import type { Source } from "../src/text/source.ts";
import {
  Colon,
  Comma,
  Equals,
  Identifier,
  InfixOperator,
  LeftBrace,
  LeftParenthesis,
  Newline,
  Question,
  RightBrace,
  RightParenthesis,
} from "./tokens.ts";

interface Open {
  readonly token: IToken;
  /** Levels around this parenthesis; closing it returns to them. */
  readonly outerDepth: number;
  readonly outerQuestionCount: number;
}

/**
 * Cuts a token sequence into statements: at line ends outside parentheses, after `{` and around `}`. Each is then
 * parsed by itself, so that a mistake in one cannot hide or invent mistakes in others. Brackets that do not match
 * and nesting beyond the limit are found here, on the tokens: the parser recurses once per level and must never
 * see what would overflow its stack. A statement with such a mistake is reported once and left out.
 */
export function splitStatements(
  source: Source,
  tokens: readonly IToken[],
): { statements: IToken[][]; diagnostics: Diagnostic[] } {
  const splitter = new Splitter(source);
  for (let i = 0; i < tokens.length; i++) splitter.take(tokens, i);
  return splitter.finish();
}

class Splitter {
  readonly #source: Source;
  readonly #statements: IToken[][] = [];
  readonly #diagnostics: Diagnostic[] = [];
  readonly #blocks: IToken[] = [];
  #current: IToken[] = [];
  #opens: Open[] = [];
  #depth = 0;
  /** Open `?` inside the innermost parenthesis. */
  #questionCount = 0;
  #isBroken = false;

  constructor(source: Source) {
    this.#source = source;
  }

  take(tokens: readonly IToken[], i: number): void {
    const token = tokens[i] as IToken;
    if (this.#opens.length > 0 && startsStatement(tokens, i)) this.#endStatement();
    switch (token.tokenType) {
      case Newline:
        if (this.#opens.length === 0) this.#endStatement();
        break;
      case LeftBrace:
        this.#blocks.push(token);
        this.#current.push(token);
        this.#endStatement();
        break;
      case RightBrace:
        this.#closeBlock(token);
        break;
      default:
        this.#track(token);
        if (!this.#isBroken) this.#current.push(token);
    }
  }

  finish(): { statements: IToken[][]; diagnostics: Diagnostic[] } {
    this.#endStatement();
    for (const block of this.#blocks) {
      this.#complain("E103", block, "'{' is never closed", "add a '}' on a line of its own");
    }
    return { statements: this.#statements, diagnostics: this.#diagnostics };
  }

  #track(token: IToken): void {
    switch (token.tokenType) {
      case LeftParenthesis:
        this.#opens.push({ token, outerDepth: this.#depth, outerQuestionCount: this.#questionCount });
        this.#questionCount = 0;
        this.#deepen(token);
        break;
      case RightParenthesis:
        this.#closeParenthesis(token);
        break;
      case Question:
        this.#questionCount += 1;
        this.#deepen(token);
        break;
      case Colon:
        // What follows the ':' is as deep as what stood before its '?'.
        if (this.#questionCount > 0) this.#depth -= 1;
        this.#questionCount = Math.max(0, this.#questionCount - 1);
        break;
    }
  }

  #deepen(token: IToken): void {
    this.#depth += 1;
    if (this.#depth <= NESTING_LEVELS_MAX) return;
    const remedy = "give inner parts names of their own with let";
    this.#break("E104", token, `nested deeper than ${NESTING_LEVELS_MAX} levels`, remedy);
  }

  #closeParenthesis(token: IToken): void {
    const open = this.#opens.pop();
    if (open) {
      this.#depth = open.outerDepth;
      this.#questionCount = open.outerQuestionCount;
    } else {
      this.#break("E103", token, "')' closes nothing", "remove it, or add a '(' before");
    }
  }

  #closeBlock(token: IToken): void {
    this.#endStatement();
    if (this.#blocks.pop()) this.#statements.push([token]);
    else this.#complain("E103", token, "'}' closes nothing", "remove it");
  }

  #endStatement(): void {
    const unclosed = this.#opens.at(-1);
    if (unclosed) this.#break("E103", unclosed.token, "'(' is never closed", "add a ')'");
    if (!this.#isBroken && this.#current.length > 0) this.#statements.push(this.#current);
    this.#current = [];
    this.#opens = [];
    this.#depth = 0;
    this.#questionCount = 0;
    this.#isBroken = false;
  }

  #break(code: string, token: IToken, message: string, remedy: string): void {
    if (!this.#isBroken) this.#complain(code, token, message, remedy);
    this.#isBroken = true;
  }

  #complain(code: string, token: IToken, message: string, remedy: string): void {
    const span = { start: token.startOffset, end: token.startOffset + 1 };
    this.#diagnostics.push(this.#source.diagnostic(code, span, message, remedy));
  }
}

/**
 * True if `name =` begins a line inside open parentheses and cannot be a named argument: a parenthesis of the
 * statement before was forgotten, and this line is a statement of its own.
 */
function startsStatement(tokens: readonly IToken[], i: number): boolean {
  if (tokens[i]?.tokenType !== Identifier || tokens[i + 1]?.tokenType !== Equals) return false;
  let before = i - 1;
  if (tokens[before]?.tokenType !== Newline) return false;
  while (tokens[before]?.tokenType === Newline) before -= 1;
  const last = tokens[before]?.tokenType;
  const expectsMore = last === Comma || last === LeftParenthesis || last === Question || last === Colon;
  return !expectsMore && !last?.CATEGORIES?.includes(InfixOperator);
}
