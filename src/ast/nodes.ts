import { UsageError } from "../errors.ts";
import {
  type ElementwiseDefinition,
  type KernelOperator,
  numberGiven,
  referenceCell,
  type Settings,
  type ValueType,
} from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import type { Span } from "../text/source.ts";

/**
 * The typed tree: names are resolved, windows are numbers, definitions are expanded by reference (a node may have
 * several parents). Trees can be deep, so every walk is iterative.
 */
export type Expression = FieldNode | GroupNode | NumberNode | ParamNode | CallNode | UnknownNode;

interface Node {
  readonly span: Span;
  readonly type: ValueType | "unknown";
  /** The value, if known at compile time. */
  readonly constant: number | null;
}

/** A numeric column of the panel. */
export interface FieldNode extends Node {
  readonly kind: "field";
  readonly name: string;
}

/** A group column of the panel. */
export interface GroupNode extends Node {
  readonly kind: "group";
  readonly name: string;
  /** Why it is a group, if it holds numbers. */
  readonly reason: string | undefined;
}

export interface NumberNode extends Node {
  readonly kind: "number";
  readonly constant: number;
}

/** A numeric call parameter: its value is known when a call starts. */
export interface ParamNode extends Node {
  readonly kind: "param";
  readonly name: string;
}

export interface CallNode extends Node {
  readonly kind: "call";
  readonly operator: KernelOperator;
  /** Arguments of the series and condition parameters, in parameter order. */
  readonly args: readonly Expression[];
  readonly group: GroupNode | null;
  readonly settings: Settings;
  readonly minPeriods: number | null;
}

/** Stands for a reported mistake or an argument of a definition; fits everywhere. */
export interface UnknownNode extends Node {
  readonly kind: "unknown";
}

export function unknownNode(span: Span): UnknownNode {
  return { kind: "unknown", type: "unknown", constant: null, span };
}

/** What to do about a group, or a text, where a number is expected. */
export function groupRemedy(value: Expression, remedy: string): string {
  if (value.kind !== "group") return remedy;
  return `${remedy}; ${value.reason ? `${value.name} is a group because ${value.reason}` : "a column that holds text is a group"}`;
}

export function numberNode(value: number, span: Span): NumberNode {
  return { kind: "number", type: "number", constant: value, span };
}

/** Applies an operator to arguments; folds the constant if all arguments have one. */
export function callNode(
  operator: KernelOperator,
  args: readonly Expression[],
  rest: Pick<CallNode, "group" | "settings" | "minPeriods" | "span">,
): CallNode {
  let constant: number | null = null;
  if (operator.axis === "elementwise" && args.every((arg) => arg.constant !== null)) {
    constant = foldedConstant(
      operator,
      args.map((arg) => arg.constant as number),
    );
  }
  return { kind: "call", operator, args, type: typeOfCall(operator, args), constant, ...rest };
}

/** Applies an operator without group, settings and `min_periods`. */
export function plainCall(
  registry: Registry,
  name: string,
  args: readonly Expression[],
  span: Span,
): CallNode {
  return callNode(registry.kernel(name), args, { group: null, settings: {}, minPeriods: null, span });
}

/**
 * The value of an operator applied to numbers, as its kernel computes it.
 *
 * @throws UsageError if the reference of a user's operator throws.
 */
export function foldedConstant(operator: Readonly<ElementwiseDefinition>, values: readonly number[]): number {
  try {
    return numberGiven(referenceCell(operator, values));
  } catch (error) {
    const problem = `operator ${operator.name} fails on ${values.join(", ")}: ${String(error)}`;
    throw new UsageError("E515", problem, "return NaN for values without a result", { cause: error });
  }
}

/** Numbers give a number; numbers and unknown arguments may give one (`d * 2` in a definition). */
function typeOfCall({ axis, result }: KernelOperator, args: readonly Expression[]): CallNode["type"] {
  if (axis !== "elementwise" || result !== "series") return result;
  if (args.every(({ type }) => type === "number")) return "number";
  return args.every(({ type }) => type === "number" || type === "unknown") ? "unknown" : "series";
}
