import type { Syntax } from "../../grammar/syntax.ts";
import { UsageError } from "../errors.ts";
import { type Operator, referenceCell } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import type { Span } from "../text/source.ts";
import type { ParamValue } from "./program.ts";

/** One step of a condition in postfix order: push a value, push a param, or apply an operator to the topmost. */
export type ConditionStep =
  | { readonly kind: "value"; readonly value: number | string }
  | { readonly kind: "param"; readonly name: string }
  | { readonly kind: "operator"; readonly symbol: string; readonly operandCount: number };

/** A condition over params, evaluated once per call: plain data, so that plans can carry it. */
export interface Condition {
  readonly steps: readonly ConditionStep[];
}

/** What a condition may not contain, with its place. */
export interface ConditionProblem extends Span {
  readonly message: string;
  readonly remedy: string;
}

/** Translates a condition to postfix; problems go to `report`. */
export function bindCondition(
  syntax: Syntax,
  params: ReadonlySet<string>,
  registry: Registry,
  report: (problem: ConditionProblem) => void,
): Condition {
  const steps: ConditionStep[] = [];
  const pending: (Syntax | ConditionStep)[] = [syntax];
  for (let item = pending.pop(); item; item = pending.pop()) {
    if (!("start" in item)) {
      steps.push(item);
      continue;
    }
    const { start, end } = item;
    switch (item.kind) {
      case "number":
      case "text":
        steps.push({ kind: "value", value: item.value });
        break;
      case "name":
        if (params.has(item.name)) steps.push({ kind: "param", name: item.name });
        else {
          const message = `${item.name} is not a param: conditions are decided once per call, from params alone`;
          report({ start, end, message, remedy: `declare it: param ${item.name} = ...` });
        }
        break;
      case "call": {
        const operandCount = item.args.length;
        const operator = item.isSymbol ? registry.findSymbol(item.name, operandCount) : undefined;
        if (!operator) {
          report({
            start,
            end,
            message: `${item.name}(...) in a condition`,
            remedy: "use params, numbers, texts and operators",
          });
          break;
        }
        pending.push({ kind: "operator", symbol: item.name, operandCount });
        for (const arg of item.args.toReversed()) pending.push(arg);
      }
    }
  }
  return { steps };
}

/**
 * Decides a condition for the params of one call; a null result (`0/0 == 1`) counts as false.
 *
 * @throws UsageError if a param has no value, or a text is compared with a number.
 */
export function holds(
  condition: Condition,
  params: ReadonlyMap<string, ParamValue>,
  registry: Registry,
): boolean {
  const stack: (number | string)[] = [];
  for (const step of condition.steps) {
    if (step.kind === "value") stack.push(step.value);
    else if (step.kind === "param") stack.push(paramOperand(step.name, params));
    else {
      const operator = registry.findSymbol(step.symbol, step.operandCount) as Operator;
      stack.push(apply(operator, stack.splice(stack.length - step.operandCount)));
    }
  }
  return stack[0] !== 0 && !Number.isNaN(stack[0]);
}

function paramOperand(name: string, params: ReadonlyMap<string, ParamValue>): number | string {
  const value = params.get(name);
  if (value === undefined)
    throw new UsageError("E503", `param ${name} has no value`, `give it one: --param ${name}=...`);
  return typeof value === "boolean" ? Number(value) : value;
}

function apply(operator: Operator, operands: (number | string)[]): number {
  const [left, right] = operands;
  if (typeof left === "string" && typeof right === "string") {
    if (operator.symbol === "==") return Number(left === right);
    if (operator.symbol === "!=") return Number(left !== right);
  }
  if (operands.some((operand) => typeof operand === "string")) {
    const shown = operands.map((operand) => JSON.stringify(operand)).join(` ${operator.symbol} `);
    throw new UsageError(
      "E504",
      `a condition cannot work out ${shown}`,
      "texts can be compared with texts by == and !=",
    );
  }
  return operator.axis === "elementwise" ? referenceCell(operator, operands as number[]) : Number.NaN;
}
