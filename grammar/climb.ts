import type { IToken } from "chevrotain";
import { INFIX, PREFIX_LEVEL, type Precedence } from "./precedence.ts";
import type { CallSyntax, Syntax } from "./syntax.ts";

/** An operand of an infix expression with the prefix operators before it, the outermost first. */
export interface Operand {
  readonly prefixes: readonly IToken[];
  readonly primary: Syntax;
}

/** Shared, because formulas can have millions of operators. */
const NONE: readonly never[] = [];

function symbolCall(symbol: IToken, args: readonly Syntax[]): CallSyntax {
  const start = Math.min(symbol.startOffset, (args[0] as Syntax).start);
  const end = (args.at(-1) as Syntax).end;
  return { kind: "call", name: symbol.image, isSymbol: true, args, named: NONE, start, end };
}

/**
 * Orders a flat infix expression by precedence (shunting-yard, Dijkstra 1961), without recursion.
 * Comparisons that follow each other without parentheses are added to `chained`.
 */
export function climb(operands: readonly Operand[], operators: readonly IToken[], chained: IToken[]): Syntax {
  const values: Syntax[] = [];
  const pending: { token: IToken; level: number; isPrefix: boolean }[] = [];
  const reduce = () => {
    const { token, isPrefix } = pending.pop() as (typeof pending)[number];
    const right = values.pop() as Syntax;
    values.push(symbolCall(token, isPrefix ? [right] : [values.pop() as Syntax, right]));
  };
  for (let i = 0; i < operands.length; i++) {
    const { prefixes, primary } = operands[i] as Operand;
    for (const token of prefixes) pending.push({ token, level: PREFIX_LEVEL, isPrefix: true });
    values.push(primary);
    const operator = operators[i];
    if (!operator) break;
    const { level, associativity } = INFIX[operator.image] as Precedence;
    for (let last = pending.at(-1); last; last = pending.at(-1)) {
      if (last.level === level && associativity === "none") chained.push(operator);
      if (last.level < level || (last.level === level && associativity === "right")) break;
      reduce();
    }
    pending.push({ token: operator, level, isPrefix: false });
  }
  while (pending.length > 0) reduce();
  return values[0] as Syntax;
}

/** `c1 ? a1 : c2 ? a2 : ... : last`, nested to the right. */
export function makeTernary(conditions: readonly Syntax[], chosen: readonly Syntax[], last: Syntax): Syntax {
  let result = last;
  for (let i = conditions.length - 1; i >= 0; i--) {
    const condition = conditions[i] as Syntax;
    const args = [condition, chosen[i] as Syntax, result];
    const { start } = condition;
    result = { kind: "call", name: "?:", isSymbol: true, args, named: NONE, start, end: last.end };
  }
  return result;
}
