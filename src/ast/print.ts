import { spelledName } from "../../grammar/names.ts";
import { INFIX, PREFIX_LEVEL, PRIMARY_LEVEL, TERNARY_LEVEL } from "../../grammar/precedence.ts";
import { InternalError } from "../errors.ts";
import { isSeriesLike } from "../operator/definition.ts";
import type { Condition } from "./condition.ts";
import type { CallNode, Expression } from "./nodes.ts";

/** A symbol applied to operands. */
interface Applied {
  readonly symbol: string;
  readonly operands: readonly Argument[];
}

/** What is written: an expression, a number, something applied, or a text that needs no parentheses. */
type Argument = Expression | Applied | number | string;

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
export function printExpression(root: Argument, charactersMax = Number.POSITIVE_INFINITY): string {
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
  if (typeof argument === "string") return PRIMARY_LEVEL;
  if (typeof argument === "number") return numberLevel(argument);
  if ("symbol" in argument) return levelOfSymbol(argument.symbol, argument.operands.length);
  if (argument.kind === "number") return numberLevel(argument.constant);
  if (argument.kind !== "call") return PRIMARY_LEVEL;
  const symbol = symbolOf(argument);
  return symbol === undefined ? PRIMARY_LEVEL : levelOfSymbol(symbol, argument.operator.parameters.length);
}

function written(argument: Argument): Work[] {
  if (typeof argument === "string") return [argument];
  if (typeof argument === "number") return [numberText(argument)];
  if ("symbol" in argument) return writeApplied(argument);
  switch (argument.kind) {
    case "number":
      return [numberText(argument.constant)];
    case "field":
    case "group":
    case "param":
      return [spelledName(argument.name)];
    case "call": {
      const [symbol, operands] = [symbolOf(argument), argumentsOf(argument)];
      return symbol === undefined ? writeCall(argument, operands) : writeApplied({ symbol, operands });
    }
    case "unknown":
      throw new InternalError("an expression with a mistake has no formula");
  }
}

/** The symbol by which a call is written; undefined for its name. */
function symbolOf({ operator: { symbol, parameters }, minPeriods }: CallNode): string | undefined {
  const isWritten = parameters.length !== 2 || Object.hasOwn(INFIX, symbol ?? "");
  return isWritten && minPeriods === null ? symbol : undefined;
}

function levelOfSymbol(symbol: string, operandCount: number): number {
  if (operandCount === 1) return PREFIX_LEVEL;
  return operandCount === 3 ? TERNARY_LEVEL : INFIX[symbol]!.level;
}

function writeApplied({ symbol, operands }: Applied): Work[] {
  const [first, second, third] = operands as [Argument, Argument, Argument];
  if (operands.length === 1) return [symbol, { argument: first, levelMin: PREFIX_LEVEL }];
  if (operands.length === 3)
    return [
      { argument: first, levelMin: TERNARY_LEVEL + 1 },
      " ? ",
      { argument: second, levelMin: TERNARY_LEVEL },
      " : ",
      { argument: third, levelMin: TERNARY_LEVEL },
    ];
  const { level, associativity } = INFIX[symbol]!;
  const rightMin = associativity === "right" ? level : level + 1;
  // A prefix after an infix operator is unambiguous: `x ^ -y`.
  const isPrefixed = levelOf(second) === PREFIX_LEVEL;
  return [
    { argument: first, levelMin: associativity === "left" ? level : level + 1 },
    ` ${symbol} `,
    { argument: second, levelMin: isPrefixed ? PREFIX_LEVEL : rightMin },
  ];
}

function writeCall({ operator, minPeriods }: CallNode, all: readonly Argument[]): Work[] {
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

/** Prints a condition as a formula file has it after `when`, with as few parentheses as the grammar allows. */
export function printCondition({ steps }: Condition): string {
  const stack: Argument[] = [];
  for (const step of steps) {
    if (step.kind === "param") stack.push(spelledName(step.name));
    else if (step.kind === "value") stack.push(literal(step.value));
    else stack.push({ symbol: step.symbol, operands: stack.splice(stack.length - step.operandCount) });
  }
  return printExpression(stack[0]!);
}

/** A text as the grammar reads it, which knows no escapes: one with both kinds of quotes has no literal. */
function literal(value: number | string): Argument {
  if (typeof value === "number") return value;
  return value.includes('"') ? `'${value}'` : `"${value}"`;
}
