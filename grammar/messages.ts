import type { IParserErrorMessageProvider, IToken, TokenType } from "chevrotain";
import { EOF, tokenLabel } from "chevrotain";
import { spelledName } from "./names.ts";
import {
  Comma,
  Equals,
  False,
  Identifier,
  LeftParenthesis,
  Let,
  NumberLiteral,
  ParamWord,
  TextLiteral,
  True,
  When,
} from "./tokens.ts";

function found(token: IToken): string {
  return token.tokenType === EOF ? "the statement ends" : `found ${quoted(token.image)}`;
}

/** Texts already have quotes, and so have some names. */
function quoted(image: string): string {
  return /^["'`]/.test(image) ? image : `'${image}'`;
}

function alternatives(paths: readonly (readonly TokenType[])[]): string {
  const first = new Set(paths.map((path) => path[0]));
  if (first.has(NumberLiteral) && first.has(LeftParenthesis)) return "an expression";
  if (first.has(Let) && first.has(Identifier)) return "a statement";
  const labels = [...first].map((token) => (token ? tokenLabel(token) : "nothing"));
  return [...new Set(labels)].join(", ");
}

/** Messages of syntax errors in terms of the language instead of the parser's. */
export const syntaxMessages: IParserErrorMessageProvider = {
  buildMismatchTokenMessage: ({ expected, actual }) =>
    `expected ${tokenLabel(expected)}, but ${found(actual)}`,
  buildNotAllInputParsedMessage: ({ firstRedundant }) =>
    `expected the end of the line, but ${found(firstRedundant)}`,
  buildNoViableAltMessage: ({ expectedPathsPerAlt, actual }) =>
    `expected ${alternatives(expectedPathsPerAlt.flat())}, but ${found(actual[0] as IToken)}`,
  buildEarlyExitMessage: ({ expectedIterationPaths, actual }) =>
    `expected ${alternatives(expectedIterationPaths)}, but ${found(actual[0] as IToken)}`,
};

/** Words of other languages and their equivalents here. */
const FOREIGN_WORDS = new Map([
  ["and", "&&"],
  ["or", "||"],
  ["not", "!"],
  ["**", "^"],
  ["<>", "!="],
]);

/** The form of each statement, by its first word. */
const FORMS = new Map([
  ["let", "it reads `let name = expression`, or `let name(x, d) = expression`"],
  ["param", 'it reads `param name = 0.5`, `param name = "text"` or `param name = true`'],
  ["when", "it reads `when condition {`, then factors, then `}`"],
  ["dialect", "it reads `dialect alpha101`"],
]);

/** The remedy for the first token that does not fit a statement, or for its early end. */
export function syntaxRemedy(token: IToken, tokens: readonly IToken[]): string {
  const first = tokens[0] as IToken;
  const at = token.tokenType === EOF ? tokens.length : tokens.indexOf(token);
  const before = tokens[at - 1] ?? first;
  const foreign = [token.image, before.image, before.image + token.image].find((word) =>
    FOREIGN_WORDS.has(word.toLowerCase()),
  );
  if (isChoice(token, before, tokens)) return "write c ? a : b for: if c then a else b";
  if (foreign !== undefined) return `write ${FOREIGN_WORDS.get(foreign.toLowerCase())} for ${foreign}`;
  const isBlock = first.tokenType === When;
  const bodyStart = isBlock ? 1 : tokens.findIndex(isEquals) + 1;
  // A block that ends early lacks its brace.
  const hasBody = bodyStart > 0 && first.tokenType !== ParamWord && !(isBlock && token.tokenType === EOF);
  const isInBody = hasBody && at >= bodyStart;
  if (isInBody) return expressionRemedy(token, before);
  const keyword = first.image.toLowerCase();
  if (keyword !== first.image && FORMS.has(keyword)) return `write ${keyword}`;
  return FORMS.get(keyword) ?? "a statement reads `name = expression`";
}

/** True for `if c then a else b` or `a if c else b`; some dialects also have a function `if`. */
function isChoice(token: IToken, before: IToken, tokens: readonly IToken[]): boolean {
  const isWord = (words: RegExp) => (one: IToken) => words.test(one.image);
  return [token, before].some(isWord(/^(if|elif)$/i)) || tokens.some(isWord(/^(then|else)$/i));
}

function isEquals({ tokenType }: IToken): boolean {
  return tokenType === Equals;
}

/** True for two words with a space between them, which may be meant as the name of one column. */
function isOneNameWith(before: IToken, { startOffset }: IToken): boolean {
  return before.tokenType === Identifier && before.startOffset + before.image.length + 1 === startOffset;
}

function expressionRemedy(token: IToken, before: IToken): string {
  switch (token.tokenType) {
    case EOF:
      return "only inside parentheses does a statement go on in the next line";
    case True:
    case False:
      return "write 1 for true and 0 for false";
    case Equals:
      return "write == to compare";
    case Identifier:
      if (isOneNameWith(before, token))
        return `write an operator between them, or one name with a space as ${spelledName(`${before.image} ${token.image}`)}`;
      return "write an operator before it, or put it on a line of its own";
    case NumberLiteral:
    case TextLiteral:
    case LeftParenthesis:
      return "write an operator before it, or put it on a line of its own";
    default:
      return before.tokenType === Comma ? "remove the comma before it" : "something is missing before it";
  }
}

/** Characters of other languages and of print, with their remedies. */
const FOREIGN_CHARACTERS = new Map([
  [";", "remove it; each statement has a line of its own"],
  ["&", "write && for and"],
  ["|", "write || for or"],
  ["~", "write ! for not"],
  ["$", "write the name without it"],
  ["[", "windows are arguments, e.g. ts_mean(close, 5)"],
  ["]", "windows are arguments, e.g. ts_mean(close, 5)"],
  ["\u201c", "write straight quotes"],
  ["\u201d", "write straight quotes"],
  ["\u2018", "write straight quotes"],
  ["\u2019", "write straight quotes"],
  ["\u2212", "write -"],
  ["\u2013", "write -"],
  ["\u00d7", "write *"],
  ["\u00b7", "write *"],
  ["\u00f7", "write /"],
  ["\u2264", "write <="],
  ["\u2265", "write >="],
  ["\u2260", "write !="],
]);

function characterRemedy(character: string): string {
  // Full-width forms of East Asian keyboards.
  const plain = character.normalize("NFKC");
  const isWide = plain !== character && /^[!-~]$/.test(plain);
  return FOREIGN_CHARACTERS.get(character) ?? (isWide ? `write ${plain}` : "remove it");
}

/** Says what is wrong with a character that starts no token, and the remedy. */
export function characterProblem(character: string): {
  message: string;
  remedy: string;
} {
  if (character === "`") {
    return {
      message: "this name in backquotes is empty, or never closed",
      remedy: "write it on one line, and `` for a backquote in it",
    };
  }
  if (character === '"' || character === "'") {
    return {
      message: "this text in quotes is never closed",
      remedy: "close it on the same line",
    };
  }
  const code = `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;
  const isSeen = /^[^\p{C}\p{Z}\p{M}]$/u.test(character);
  return {
    message: `${isSeen ? `'${character}'` : `the character ${code}`} has no meaning in a formula`,
    remedy: characterRemedy(character),
  };
}
