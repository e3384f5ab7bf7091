import { spelledName } from "../../grammar/names.ts";
import { INFIX, PREFIX_LEVEL, PRIMARY_LEVEL, TERNARY_LEVEL } from "../../grammar/precedence.ts";
import { InternalError } from "../errors.ts";
import { isSeriesLike } from "../operator/definition.ts";
import type { CallNode, Expression } from "./nodes.ts";

/** An argument in the formula: an expression, or a number known at compile time. */
type Argument = Expression | number;

/** Pending output: finished text, or an argument and the precedence from which it needs no parentheses. */
type Work = string | { readonly argument: Argument; readonly levelMin: number };

/**
 * Prints an expression as a formula in dialect `native`, with as few parentheses as the grammar allows.
 *
 * Binding the text in a file without definitions gives an equal tree. Values without a literal are printed as calls
 * with the same value: `-2` as the negation of 2, an infinity as `1 / 0`. Arguments at their defaults are omitted.
 * Expressions with several parents are written out each time, so the text can be much longer than the graph.
 *
 * @param charactersMax a longer text is cut there, and ends in `...`
 * @throws InternalError for a tree with a mistake.
 */
export function printExpression(root: Expression, charactersMax = Number.POSITIVE_INFINITY): string {
  const pieces: string[] = [];
  let length = 0;
  const work: Work[] = [{ argument: root, levelMin: TERNARY_LEVEL }];
  for (let item = work.pop(); item !== undefined; item = work.pop()) {
    if (length > charactersMax) return `${pieces.join("").slice(0, charactersMax - 3)}...`;
    if (typeof item === "string") {
      pieces.push(item);
      length += item.length;
    } else if (levelOf(item.argument) >= item.levelMin) work.push(...written(item.argument).reverse());
    else work.push(")", { argument: item.argument, levelMin: TERNARY_LEVEL }, "(");
  }
  return pieces.join("");
}

function levelOf(argument: Argument): number {
  if (typeof argument === "number") return numberLevel(argument);
  if (argument.kind === "number") return numberLevel(argument.constant);
  return argument.kind === "call" ? formOf(argument).level : PRIMARY_LEVEL;
}

function written(argument: Argument): Work[] {
  if (typeof argument === "number") return [numberText(argument)];
  switch (argument.kind) {
    case "number":
      return [numberText(argument.constant)];
    case "field":
    case "group":
    case "param":
      return [spelledName(argument.name)];
    case "call":
      return formOf(argument).write(argument);
    case "unknown":
      throw new InternalError("an expression with a mistake has no formula");
  }
}

/** How an operator's application is written. */
interface Form {
  readonly level: number;
  readonly write: (call: CallNode) => Work[];
}

const CALL: Form = { level: PRIMARY_LEVEL, write: writeCall };
const PREFIX: Form = { level: PREFIX_LEVEL, write: writePrefix };
const TERNARY: Form = { level: TERNARY_LEVEL, write: writeTernary };
const INFIX_FORMS: ReadonlyMap<string, Form> = new Map(
  Object.entries(INFIX).map(([symbol, { level }]) => [symbol, { level, write: writeInfix }]),
);

function formOf({ operator, minPeriods }: CallNode): Form {
  const { symbol, parameters } = operator;
  if (symbol === undefined || minPeriods !== null) return CALL;
  if (parameters.length === 1) return PREFIX;
  return parameters.length === 3 ? TERNARY : (INFIX_FORMS.get(symbol) ?? CALL);
}

function writePrefix(call: CallNode): Work[] {
  const [x] = argumentsOf(call) as [Argument];
  return [call.operator.symbol as string, { argument: x, levelMin: PREFIX_LEVEL }];
}

function writeInfix(call: CallNode): Work[] {
  const symbol = call.operator.symbol as string;
  const { level, associativity } = INFIX[symbol] as (typeof INFIX)[string];
  const [left, right] = argumentsOf(call) as [Argument, Argument];
  const rightMin = associativity === "right" ? level : level + 1;
  // A prefix after an infix operator is unambiguous: `x ^ -y`.
  const isPrefixed = levelOf(right) === PREFIX_LEVEL;
  return [
    { argument: left, levelMin: associativity === "left" ? level : level + 1 },
    ` ${symbol} `,
    { argument: right, levelMin: isPrefixed ? PREFIX_LEVEL : rightMin },
  ];
}

function writeTernary(call: CallNode): Work[] {
  const [condition, chosen, other] = argumentsOf(call) as [Argument, Argument, Argument];
  return [
    { argument: condition, levelMin: TERNARY_LEVEL + 1 },
    " ? ",
    { argument: chosen, levelMin: TERNARY_LEVEL },
    " : ",
    { argument: other, levelMin: TERNARY_LEVEL },
  ];
}

function writeCall(call: CallNode): Work[] {
  const { operator, minPeriods } = call;
  const all = argumentsOf(call);
  const last = all.findLastIndex((argument, i) => !Object.is(argument, operator.parameters[i]?.default));
  const work: Work[] = [`${operator.name}(`];
  for (const [i, argument] of all.slice(0, last + 1).entries()) {
    if (i > 0) work.push(", ");
    work.push({ argument, levelMin: TERNARY_LEVEL });
  }
  work.push(minPeriods === null ? ")" : `, min_periods=${minPeriods})`);
  return work;
}

/** The arguments in the operator's parameter order. */
function argumentsOf({ operator, args, group, settings }: CallNode): Argument[] {
  const { parameters } = operator;
  let seriesCount = 0;
  return parameters.map(({ name, kind }): Argument => {
    if (isSeriesLike(kind)) return args[seriesCount++] as Expression;
    return kind === "group" ? (group as Expression) : (settings[name] as number);
  });
}

function numberLevel(value: number): number {
  if (Math.abs(value) === Number.POSITIVE_INFINITY) return (INFIX["/"] as (typeof INFIX)[string]).level;
  return value < 0 || Object.is(value, -0) ? PREFIX_LEVEL : PRIMARY_LEVEL;
}

/** Text that parses to the same double. */
function numberText(value: number): string {
  if (Number.isNaN(value)) return "null";
  if (Math.abs(value) === Number.POSITIVE_INFINITY) return `${Math.sign(value)} / 0`;
  return Object.is(value, -0) ? "-0" : String(value);
}
