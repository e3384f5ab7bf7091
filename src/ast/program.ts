import type { Span } from "../text/source.ts";
import type { Condition } from "./condition.ts";
import type { Expression } from "./nodes.ts";
import type { ParamValue } from "./param_value.ts";

/** A named formula of the output. */
export interface Factor {
  readonly name: string;
  /** Span of its name. */
  readonly span: Span;
  readonly expression: Expression;
  /** Index into the program's conditions; null if the factor is always wanted. */
  readonly condition: number | null;
  /** Larger priorities are computed first where a session's budget is short. */
  readonly priority: number;
}

/** A call parameter with its default; `null` if every call must give it. */
export interface Param {
  readonly name: string;
  readonly default: ParamValue | null;
}

/** A formula file with every name resolved. */
export interface BoundProgram {
  readonly factors: readonly Factor[];
  readonly params: readonly Param[];
  readonly conditions: readonly Condition[];
  /** Operators across the row include the instruments where it is neither 0 nor null; null: all that have a row. */
  readonly universe: Expression | null;
}
