import type { Span } from "../text/source.ts";
import type { Condition } from "./condition.ts";
import type { Expression } from "./nodes.ts";
import type { ParamValue } from "./param_value.ts";

/** A named formula that is output. */
export interface Factor {
  readonly name: string;
  /** Where its name stands. */
  readonly span: Span;
  readonly expression: Expression;
  /** Index into the program's conditions; null if the factor is always wanted. */
  readonly condition: number | null;
  /** Which factors come first where a session's budget is short: the larger, the earlier. */
  readonly priority: number;
}

/** A call parameter with its default; `null` if every call must give it. */
export interface Param {
  readonly name: string;
  readonly default: ParamValue | null;
}

/** What a formula file means, once every name is resolved. */
export interface BoundProgram {
  readonly factors: readonly Factor[];
  readonly params: readonly Param[];
  readonly conditions: readonly Condition[];
  /** Neither 0 nor null where operators across the row see an instrument; null: they see all that have a row. */
  readonly universe: Expression | null;
}
