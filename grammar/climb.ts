import type { IToken } from "chevrotain";
import { INFIX, PREFIX_LEVEL, type Precedence } from "./precedence.ts";
import type { CallSyntax, Syntax } from "./syntax.ts";
import { operatorSymbol } from "./tokens.ts";

/** An operand of an infix expression, with the prefix operators before it, outermost first. */
export interface InfixOperand {
  readonly prefixes: readonly IToken[];
  readonly primary: Syntax;
  /** Start of the primary, including any parentheses around it: they belong to the expression that uses it. */
  readonly start: number;
  readonly end: number;
}

/** Shared: formulas can have millions of operators. */
const NONE: readonly never[] = [];

function symbolCall(name: string, args: readonly Syntax[], start: number, end: number): CallSyntax {
  return { kind: "call", name, nameLength: name.length, isSymbol: true, args, named: NONE, start, end };
}

/**
 * Orders a flat infix expression by precedence (shunting-yard, Dijkstra 1961), without recursion. Adds comparisons that
 * follow each other without parentheses to `chained`.
 */
export function climb(
  operands: readonly InfixOperand[],
  operators: readonly IToken[],
  chained: IToken[],
): Syntax {
  const values: Syntax[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const pending: { token: IToken; level: number; isPrefix: boolean }[] = [];
  const reduce = () => {
    const { token, isPrefix } = pending.pop() as (typeof pending)[number];
    const right = values.pop() as Syntax;
    const end = ends.pop() as number;
    const args = isPrefix ? [right] : [values.pop() as Syntax, right];
    starts.pop();
    if (isPrefix) starts.push(token.startOffset);
    else ends.pop();
    ends.push(end);
    values.push(symbolCall(operatorSymbol(token), args, starts.at(-1) as number, end));
  };
  for (let i = 0; i < operands.length; i++) {
    const { prefixes, primary, start, end } = operands[i] as InfixOperand;
    for (const token of prefixes) pending.push({ token, level: PREFIX_LEVEL, isPrefix: true });
    values.push(primary);
    starts.push(start);
    ends.push(end);
    const operator = operators[i];
    if (!operator) break;
    const { level, associativity } = INFIX[operatorSymbol(operator)] as Precedence;
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

/** `condition ? chosen :`, with its start. */
export interface Branch {
  readonly condition: Syntax;
  readonly chosen: Syntax;
  readonly start: number;
}

/** `c1 ? a1 : c2 ? a2 : ... : last`, nested to the right; all of them end at `end`. */
export function makeTernary(branches: readonly Branch[], last: Syntax, end: number): Syntax {
  return branches.reduceRight(
    (rest, { condition, chosen, start }) => symbolCall("?:", [condition, chosen, rest], start, end),
    last,
  );
}
