import type { IParserErrorMessageProvider, IToken, TokenType } from "chevrotain";
import { tokenLabel } from "chevrotain";

function found(token: IToken): string {
  return token.image === "" ? "the statement ends" : `found '${token.image}'`;
}

function alternatives(paths: readonly (readonly TokenType[])[]): string {
  const labels = new Set(paths.map((path) => (path[0] ? tokenLabel(path[0]) : "nothing")));
  return [...labels].join(", ");
}

/** Messages of syntax errors in the words of the language instead of the parser's. */
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
