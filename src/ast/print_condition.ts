import { spelledName } from "../../grammar/names.ts";
import type { Condition } from "./condition.ts";
import { type Argument, printExpression } from "./print.ts";

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
