import type { IToken } from "chevrotain";
import type { Diagnostic } from "../src/errors.ts";
import { DIAGNOSTICS_MAX, NESTING_LEVELS_MAX } from "../src/limits.ts";
import type { Source } from "../src/text/source.ts";
import {
  Colon,
  Comma,
  DialectWord,
  Equals,
  Identifier,
  InfixOperator,
  LeftBrace,
  LeftParenthesis,
  Let,
  Newline,
  ParamWord,
  Question,
  RightBrace,
  RightParenthesis,
  When,
} from "./tokens.ts";

const UNPAIRED = "E103";
const TOO_DEEP = "E104";

interface Open {
  readonly token: IToken;
  /** Nesting depth around this parenthesis, restored when it closes. */
  readonly outerDepth: number;
  readonly outerQuestionCount: number;
}

/** The tokens of one statement; for a broken one, which has been reported, those before the mistake. */
export interface StatementTokens {
  readonly tokens: readonly IToken[];
  readonly isBroken: boolean;
  /** The last token of the statement, whether it is part of a mistake or not. */
  readonly last: IToken;
}

/**
 * Splits a token sequence into statements: at line ends outside parentheses, after `{` and around `}`. Each is parsed
 * separately, so that a mistake in one cannot hide or cause errors in others. Unmatched brackets and excessive nesting
 * are found here, on the tokens: the parser recurses once per level and would overflow its stack. A statement with such
 * a mistake is reported once and marked as broken.
 */
export function splitStatements(
  source: Source,
  tokens: readonly IToken[],
): { runs: StatementTokens[]; diagnostics: Diagnostic[] } {
  const splitter = new Splitter(source);
  for (let i = 0; i < tokens.length; i++) splitter.take(tokens, i);
  return splitter.finish();
}

class Splitter {
  readonly #source: Source;
  readonly #runs: StatementTokens[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  readonly #blocks: IToken[] = [];
  /** Blocks inside the innermost accepted one; they are ignored. */
  #excessBlockCount = 0;
  #current: IToken[] = [];
  #last: IToken | undefined;
  #opens: Open[] = [];
  /** Parentheses opened after the mistake in a broken statement: only counted. */
  #openCountBroken = 0;
  #depth = 0;
  /** Open `?` inside the innermost parenthesis. */
  #questionCount = 0;
  #isBroken = false;

  constructor(source: Source) {
    this.#source = source;
  }

  take(tokens: readonly IToken[], i: number): void {
    const token = tokens[i] as IToken;
    if (this.#isInside && startsStatement(tokens, i)) this.#endStatement();
    switch (token.tokenType) {
      case Newline:
        if (!this.#isInside) this.#endStatement();
        break;
      case LeftBrace:
        this.#openBlock(token);
        break;
      case RightBrace:
        this.#closeBlock(token);
        break;
      default:
        this.#track(token);
        this.#last = token;
        if (!this.#isBroken) this.#current.push(token);
    }
  }

  get #isInside(): boolean {
    return this.#opens.length > 0 || this.#openCountBroken > 0;
  }

  finish(): { runs: StatementTokens[]; diagnostics: Diagnostic[] } {
    this.#endStatement();
    for (const block of this.#blocks) {
      this.#complain(UNPAIRED, block, "'{' is never closed", "add a '}' on a line of its own");
    }
    return { runs: this.#runs, diagnostics: this.#diagnostics };
  }

  #track(token: IToken): void {
    switch (token.tokenType) {
      case LeftParenthesis:
        this.#openParenthesis(token);
        break;
      case RightParenthesis:
        this.#closeParenthesis(token);
        break;
      case Question:
        this.#questionCount += 1;
        this.#deepen(token);
        break;
      case Colon:
        // The part behind ':' is as deep as the part before its '?'.
        if (this.#questionCount > 0) this.#depth -= 1;
        this.#questionCount = Math.max(0, this.#questionCount - 1);
        break;
    }
  }

  #deepen(token: IToken): void {
    this.#depth += 1;
    if (this.#depth <= NESTING_LEVELS_MAX) return;
    const remedy = "give inner parts names of their own with let";
    this.#break(TOO_DEEP, token, `nested deeper than ${NESTING_LEVELS_MAX} levels`, remedy);
  }

  #openBlock(token: IToken): void {
    this.#current.push(token);
    this.#last = token;
    if (this.#blocks.length < NESTING_LEVELS_MAX) this.#blocks.push(token);
    else {
      const message = `blocks are nested deeper than ${NESTING_LEVELS_MAX} levels`;
      if (this.#excessBlockCount === 0) this.#complain(TOO_DEEP, token, message, "join conditions with &&");
      this.#excessBlockCount += 1;
      this.#isBroken = true;
    }
    this.#endStatement();
  }

  #openParenthesis(token: IToken): void {
    if (this.#isBroken) {
      this.#openCountBroken += 1;
      return;
    }
    this.#opens.push({
      token,
      outerDepth: this.#depth,
      outerQuestionCount: this.#questionCount,
    });
    this.#questionCount = 0;
    this.#deepen(token);
  }

  #closeParenthesis(token: IToken): void {
    if (this.#openCountBroken > 0) {
      this.#openCountBroken -= 1;
      return;
    }
    const open = this.#opens.pop();
    if (open) {
      this.#depth = open.outerDepth;
      this.#questionCount = open.outerQuestionCount;
    } else {
      this.#break(UNPAIRED, token, "')' closes nothing", "remove it, or add a '(' before");
    }
  }

  #closeBlock(token: IToken): void {
    this.#endStatement();
    if (this.#excessBlockCount > 0) this.#excessBlockCount -= 1;
    else if (this.#blocks.pop()) this.#runs.push({ tokens: [token], isBroken: false, last: token });
    else this.#complain(UNPAIRED, token, "'}' closes nothing", "remove it");
  }

  #endStatement(): void {
    const unclosed = this.#opens.at(-1);
    if (unclosed) this.#break(UNPAIRED, unclosed.token, "'(' is never closed", "add a ')'");
    const [tokens, last] = [this.#current, this.#last];
    if (tokens.length > 0 && last) this.#runs.push({ tokens, isBroken: this.#isBroken, last });
    this.#current = [];
    this.#opens = [];
    this.#openCountBroken = 0;
    this.#depth = 0;
    this.#questionCount = 0;
    this.#isBroken = false;
  }

  #break(code: string, token: IToken, message: string, remedy: string): void {
    if (!this.#isBroken) this.#complain(code, token, message, remedy);
    this.#isBroken = true;
  }

  #complain(code: string, token: IToken, message: string, remedy: string): void {
    if (this.#diagnostics.length >= DIAGNOSTICS_MAX) return;
    const span = { start: token.startOffset, end: token.startOffset + 1 };
    this.#diagnostics.push(this.#source.diagnostic(code, span, message, remedy));
  }
}

/**
 * True if a line inside open parentheses begins with a keyword, or with `name =` that cannot be a named argument: the
 * statement before lacks a closing parenthesis, and this line starts a new one.
 */
function startsStatement(tokens: readonly IToken[], i: number): boolean {
  let before = i - 1;
  if (tokens[before]?.tokenType !== Newline) return false;
  const type = tokens[i]?.tokenType;
  if (type === Let || type === ParamWord || type === When || type === DialectWord) return true;
  if (type !== Identifier || tokens[i + 1]?.tokenType !== Equals) return false;
  while (tokens[before]?.tokenType === Newline) before -= 1;
  const last = tokens[before]?.tokenType;
  const expectsMore = last === Comma || last === LeftParenthesis || last === Question || last === Colon;
  return !expectsMore && !last?.CATEGORIES?.includes(InfixOperator);
}
