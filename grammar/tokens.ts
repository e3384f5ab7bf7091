import { createToken, type IToken, Lexer, type TokenType } from "chevrotain";
import { DOTTED, nameOf, QUOTED, type Reserved, WORD } from "./names.ts";

/** Every token of the formula language. Earlier tokens win where several match. */

/** Chevrotain reads no regular expressions of Unicode itself, and asks for the characters with which they start. */
function unicode(source: string) {
  const pattern = new RegExp(source, "uy");
  return (text: string, offset: number) => {
    pattern.lastIndex = offset;
    return pattern.exec(text);
  };
}

const ASCII_STARTS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_`"];
const OTHER_STARTS = Array.from({ length: 0x10000 - 0x80 }, (_, i) => i + 0x80);

export const Identifier = createToken({
  name: "Identifier",
  label: "a name",
  pattern: unicode(`${DOTTED}|${QUOTED}`),
  start_chars_hint: [...ASCII_STARTS, ...OTHER_STARTS],
  line_breaks: false,
});

/** A field in dialect qlib: `$close`. */
const FieldName = createToken({
  name: "FieldName",
  label: "a name",
  pattern: unicode(`\\$(?:${WORD}|${QUOTED})`),
  start_chars_hint: ["$"],
  line_breaks: false,
  categories: Identifier,
});

/** The name that a token spells. */
export function nameIn({ image }: IToken): string {
  return image.startsWith("$") ? `$${nameOf(image.slice(1))}` : nameOf(image);
}

function keyword(word: Reserved) {
  return createToken({
    name: word[0]?.toUpperCase() + word.slice(1),
    label: `'${word}'`,
    pattern: word,
    longer_alt: Identifier,
  });
}
export const Let = keyword("let");
export const ParamWord = keyword("param");
export const When = keyword("when");
export const DialectWord = keyword("dialect");
/** The word `priority` right after an operand; the lexer reads it as a name. */
export const Priority = createToken({
  name: "Priority",
  label: "'priority'",
  pattern: Lexer.NA,
});
export const True = keyword("true");
export const False = keyword("false");
export const Null = keyword("null");

export const NumberLiteral = createToken({
  name: "Number",
  label: "a number",
  pattern: /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/,
});
export const TextLiteral = createToken({
  name: "Text",
  label: "a text in quotes",
  pattern: /"[^"\r\n]*"|'[^'\r\n]*'/,
});

/** Categories: the parser asks for any infix or prefix operator; the precedence table orders them. */
export const InfixOperator = createToken({
  name: "InfixOperator",
  label: "an operator",
  pattern: Lexer.NA,
});
export const PrefixOperator = createToken({
  name: "PrefixOperator",
  label: "'-' or '!'",
  pattern: Lexer.NA,
});

function symbol(name: string, pattern: string, ...categories: (typeof InfixOperator)[]) {
  return createToken({ name, label: `'${pattern}'`, pattern, categories });
}
export const Minus = symbol("Minus", "-", InfixOperator, PrefixOperator);
const operators = [
  symbol("OrOr", "||", InfixOperator),
  symbol("AndAnd", "&&", InfixOperator),
  symbol("EqualEqual", "==", InfixOperator),
  symbol("NotEqual", "!=", InfixOperator),
  symbol("LessEqual", "<=", InfixOperator),
  symbol("GreaterEqual", ">=", InfixOperator),
  symbol("Less", "<", InfixOperator),
  symbol("Greater", ">", InfixOperator),
  symbol("Plus", "+", InfixOperator),
  Minus,
  symbol("Star", "*", InfixOperator),
  symbol("Slash", "/", InfixOperator),
  symbol("Percent", "%", InfixOperator),
  symbol("Caret", "^", InfixOperator),
  symbol("Not", "!", PrefixOperator),
];

/** Spellings of some dialects for `&&` and `||`. */
const And = symbol("And", "&", InfixOperator);
const Or = symbol("Or", "|", InfixOperator);

export const EqualEqual = operators[2] as TokenType;
export const Equals = symbol("Equals", "=");
export const Question = symbol("Question", "?");
export const Colon = symbol("Colon", ":");
export const Comma = symbol("Comma", ",");
export const LeftParenthesis = symbol("LeftParenthesis", "(");
export const RightParenthesis = symbol("RightParenthesis", ")");
export const LeftBrace = symbol("LeftBrace", "{");
export const RightBrace = symbol("RightBrace", "}");

/** Ends a statement, except inside parentheses. */
export const Newline = createToken({
  name: "Newline",
  label: "the end of the line",
  pattern: /\r\n|\n|\r/,
  line_breaks: true,
});
const Space = createToken({
  name: "Space",
  pattern: /[ \t\f\v\u00a0\ufeff]+/,
  group: Lexer.SKIPPED,
});
const Comment = createToken({
  name: "Comment",
  pattern: /(?:#|\/\/)[^\r\n]*/,
  group: Lexer.SKIPPED,
});

/** Every token that the parser can meet. */
export const TOKENS = [
  Space,
  Newline,
  Comment,
  NumberLiteral,
  TextLiteral,
  Let,
  ParamWord,
  When,
  DialectWord,
  True,
  False,
  Null,
  Priority,
  Identifier,
  FieldName,
  ...operators,
  And,
  Or,
  Equals,
  Question,
  Colon,
  Comma,
  LeftParenthesis,
  RightParenthesis,
  LeftBrace,
  RightBrace,
  InfixOperator,
  PrefixOperator,
];

/** Tokens of some dialects only, by spelling. */
const OPTIONAL_TOKENS: ReadonlyMap<string, TokenType> = new Map([
  ["$", FieldName],
  ["&", And],
  ["|", Or],
]);

/** Creates a lexer that includes these optional tokens. It tracks offsets only: messages compute lines. */
export function createLexer(spellings: readonly string[]): Lexer {
  const missing = new Set(
    [...OPTIONAL_TOKENS].filter(([spelling]) => !spellings.includes(spelling)).map(([, token]) => token),
  );
  const tokens = TOKENS.filter((token) => !missing.has(token));
  return new Lexer(tokens, {
    positionTracking: "onlyOffset",
    ensureOptimizations: true,
  });
}

/** The operator of a symbol: `&` is `&&`. */
export function operatorSymbol({ image, tokenType }: IToken): string {
  if (tokenType === And) return "&&";
  if (tokenType === Or) return "||";
  return tokenType === EqualEqual ? "==" : image;
}
