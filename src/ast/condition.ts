import { spelledName } from "../../grammar/names.ts";
import type { CallSyntax, Syntax } from "../../grammar/syntax.ts";
import { type Operator, referenceCell } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import type { ParamValue } from "./param_value.ts";
import { paramTypeWrong, paramWithoutValue } from "./params.ts";
import type { Report } from "./report.ts";

/**
 * One step of a condition in postfix order: push a value, push a param, or apply an operator to the top of the stack.
 */
export type ConditionStep =
  | { readonly kind: "value"; readonly value: number | string }
  | { readonly kind: "param"; readonly name: string }
  | { readonly kind: "operator"; readonly symbol: string; readonly operandCount: number };

/** A condition over params, evaluated once per call. Plain data, so that plans can carry it. */
export interface Condition {
  readonly steps: readonly ConditionStep[];
}

/** Holds in every call. */
export const ALWAYS: Condition = { steps: [{ kind: "value", value: 1 }] };

/** True if a condition is a single value that holds in every call. */
export function isAlways({ steps }: Condition): boolean {
  const [step] = steps;
  return steps.length === 1 && step!.kind === "value" && step!.value !== 0;
}

/** "any": a param without a default, or a broken one. */
export type OperandType = "number" | "text" | "any";

/** A param as declared. */
export interface ConditionParam {
  readonly name: string;
  readonly type: OperandType;
}

/** Finds a param by name, without regard to letter case. */
type FindParam = (name: string) => ConditionParam | undefined;

/** Translates a condition to postfix and checks its types; reports problems (E213). */
export function bindCondition(
  syntax: Syntax,
  registry: Registry,
  findParam: FindParam,
  report: Report,
): Condition {
  const steps: ConditionStep[] = [];
  const types: OperandType[] = [];
  const pending: { syntax: Syntax; isApplied: boolean }[] = [{ syntax, isApplied: false }];
  for (let item = pending.pop(); item; item = pending.pop()) {
    const { syntax: part, isApplied } = item;
    if (part.kind === "call" && isApplied) {
      const operandCount = part.args.length;
      const operands = types.splice(types.length - operandCount);
      steps.push({ kind: "operator", symbol: part.name, operandCount });
      types.push(applyToTypes(part, operands, report));
    } else if (part.kind === "call" && part.isSymbol && registry.findCalled(part, "native")) {
      pending.push({ syntax: part, isApplied: true });
      for (const arg of part.args.toReversed()) pending.push({ syntax: arg, isApplied: false });
    } else {
      types.push(pushOperand(part, steps, findParam, report));
    }
  }
  if (types[0] === "text") {
    const remedy = 'compare it with another, e.g. session == "close"';
    report.add("E213", syntax, "a text is not a condition", remedy);
  }
  return { steps };
}

/** The type of a param in conditions, by its default. */
export function conditionTypeOf(value: ParamValue | null): ConditionParam["type"] {
  if (value === null) return "any";
  return typeof value === "string" ? "text" : "number";
}

/** Adds the step of a number, a text or a param; reports anything else. */
function pushOperand(
  syntax: Syntax,
  steps: ConditionStep[],
  findParam: FindParam,
  report: Report,
): OperandType {
  switch (syntax.kind) {
    case "number":
    case "text":
      steps.push({ kind: "value", value: syntax.value });
      return syntax.kind;
    case "name": {
      const param = findParam(syntax.name);
      if (param) {
        steps.push({ kind: "param", name: param.name });
        return param.type;
      }
      const name = spelledName(syntax.name);
      const message = `${name} is not a param: conditions are evaluated once per call, from params alone`;
      report.add("E213", syntax, message, `declare it: param ${name} = ...`);
      return "any";
    }
    case "call": {
      const message = `${spelledName(syntax.name)}(...) in a condition`;
      report.add("E213", syntax, message, "use params, numbers, texts and operators");
      return "any";
    }
  }
}

function applyToTypes(syntax: CallSyntax, operands: readonly OperandType[], report: Report): OperandType {
  const isTextTest = TEXT_TESTS.has(syntax.name) && !operands.includes("number");
  if (operands.includes("text") && !isTextTest) {
    const message = `'${syntax.name}' does not work with a text here: texts are compared with texts, by == and !=`;
    report.add("E213", syntax, message, "compare like with like");
  }
  return "number";
}

/** Operators that accept texts. */
const TEXT_TESTS: ReadonlySet<string> = new Set(["==", "!="]);

/**
 * Evaluates a condition for the params of one call; a null result (`0/0 == 1`) counts as false.
 *
 * @throws UsageError if a param has no value, or a text stands where a number is needed.
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
  const [result] = stack;
  if (typeof result === "string") {
    const message = `a condition is the text ${JSON.stringify(result)}`;
    throw paramTypeWrong(message, "give the param a number, or true or false");
  }
  return result !== 0 && !Number.isNaN(result);
}

function paramOperand(name: string, params: ReadonlyMap<string, ParamValue>): number | string {
  const value = params.get(name);
  if (value === undefined) throw paramWithoutValue(name);
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
    throw paramTypeWrong(
      `a condition cannot work out ${shown}`,
      "texts can be compared with texts by == and !=",
    );
  }
  return operator.axis === "elementwise" ? referenceCell(operator, operands as number[]) : Number.NaN;
}
