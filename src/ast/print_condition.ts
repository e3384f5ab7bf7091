import { spelledName } from "../../grammar/names.ts";
import { INFIX, PREFIX_LEVEL, PRIMARY_LEVEL, TERNARY_LEVEL } from "../../grammar/precedence.ts";
import type { Condition, ConditionStep } from "./condition.ts";

/** A part of a condition as text, and how tightly it binds. */
interface Part {
  readonly text: string;
  readonly level: number;
}

/** Prints a condition as a formula file has it after `when`, with as few parentheses as the grammar allows. */
export function printCondition({ steps }: Condition): string {
  const stack: Part[] = [];
  for (const step of steps) {
    const operands = step.kind === "operator" ? stack.splice(stack.length - step.operandCount) : [];
    stack.push(partOf(step, operands));
  }
  return (stack[0] as Part).text;
}

function partOf(step: ConditionStep, operands: readonly Part[]): Part {
  if (step.kind === "param") return { text: spelledName(step.name), level: PRIMARY_LEVEL };
  if (step.kind === "value") return { text: literalText(step.value), level: PRIMARY_LEVEL };
  const { symbol } = step;
  const [first, second, third] = operands as [Part, Part, Part];
  if (operands.length === 1) return { text: `${symbol}${within(first, PREFIX_LEVEL)}`, level: PREFIX_LEVEL };
  if (operands.length === 3) {
    const chosen = `${within(second, TERNARY_LEVEL)} : ${within(third, TERNARY_LEVEL)}`;
    return { text: `${within(first, TERNARY_LEVEL + 1)} ? ${chosen}`, level: TERNARY_LEVEL };
  }
  const { level, associativity } = INFIX[symbol] as (typeof INFIX)[string];
  const left = within(first, associativity === "left" ? level : level + 1);
  const right = within(second, associativity === "right" ? level : level + 1);
  return { text: `${left} ${symbol} ${right}`, level };
}

/** A text as the grammar reads it, which knows no escapes: one with both kinds of quotes has no literal. */
function literalText(value: number | string): string {
  if (typeof value === "number") return JSON.stringify(value);
  return value.includes('"') ? `'${value}'` : `"${value}"`;
}

function within({ text, level }: Part, levelMin: number): string {
  return level < levelMin ? `(${text})` : text;
}
