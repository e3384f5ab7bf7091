import { EOF, type IToken, type TokenType } from "chevrotain";
import { PRIORITY_MAX } from "../src/limits.ts";
import {
  DialectWord,
  False,
  Identifier,
  Let,
  Null,
  NumberLiteral,
  ParamWord,
  Priority,
  RightParenthesis,
  TextLiteral,
  True,
  When,
} from "./tokens.ts";

/** Token types that can end an operand. */
const OPERAND_ENDS: ReadonlySet<TokenType | undefined> = new Set([
  Identifier,
  NumberLiteral,
  TextLiteral,
  Null,
  True,
  False,
  RightParenthesis,
]);

/**
 * Two operands are never adjacent, so `priority` right after an operand is the keyword; elsewhere it is an ordinary
 * name.
 */
export function readPriorities(tokens: readonly IToken[]): void {
  tokens.forEach((token, i) => {
    if (token.tokenType !== Identifier || token.image !== "priority") return;
    const before = tokens[i - 1]?.tokenType;
    if (!OPERAND_ENDS.has(before) && !before?.CATEGORIES?.includes(Identifier)) return;
    token.tokenType = Priority;
    token.tokenTypeIdx = Priority.tokenTypeIdx as number;
  });
}

export const WRONG_PRIORITY = {
  message: `a priority is a whole number from -${PRIORITY_MAX} to ${PRIORITY_MAX}`,
  remedy: "write for example `priority 10`",
};

const STATEMENTS_WITHOUT: ReadonlySet<TokenType> = new Set([Let, ParamWord, When, DialectWord]);

/** The problem at a token that does not fit, if it concerns a priority: the token is one or follows one. */
export function priorityProblem(
  token: IToken,
  message: string,
  tokens: readonly IToken[],
): { message: string; remedy: string } | undefined {
  const at = token.tokenType === EOF ? tokens.length : tokens.indexOf(token);
  const first = tokens[0] as IToken;
  const place = tokens.findIndex(({ tokenType }) => tokenType === Priority);
  if (place < 0 || place > at) return undefined;
  if (place === at) {
    const remedy = "write it at the end of a factor: `name = expression priority 10`";
    const isWithout = STATEMENTS_WITHOUT.has(first.tokenType);
    return { message: isWithout ? `'${first.image}' has no priority` : message, remedy };
  }
  const isComplete = tokens.slice(place, at).some(({ tokenType }) => tokenType === NumberLiteral);
  if (!isComplete) return WRONG_PRIORITY;
  const isCondition = token.tokenType === When;
  const remedy = isCondition
    ? "write `when` before `priority`"
    : "a priority is one number, the last of a factor";
  return { message, remedy };
}
