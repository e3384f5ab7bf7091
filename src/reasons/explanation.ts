import type { NullCause } from "../operator/null_causes.ts";

/** A sub-expression as its author reads it. */
export interface WrittenPlace {
  /** Its text in the source; where a definition of an operator wrote it, in dialect `native`. */
  readonly formula: string;
  /** 1-based line of the source. */
  readonly line: number;
  /** 1-based column of the line. */
  readonly column: number;
}

/** The inputs of a rolling operator in its window, oldest row first. */
export interface ExplainedWindow {
  readonly times: readonly string[];
  /** For each input of the operator its values `[rows]`; null for null. */
  readonly values: readonly (readonly (number | null)[])[];
}

/** A sub-expression with its value in the cell that is explained. */
export interface ExplainedExpression extends WrittenPlace {
  /** Null for null; infinities are kept. */
  readonly value: number | null;
  /** Its series arguments in the operator's order. Left out where the expression stands in the tree before. */
  readonly inputs: readonly ExplainedExpression[];
  /** True for an expression whose inputs are given where it stands first. */
  readonly isRepeated: boolean;
  /** Null where the operator reads today's row only. */
  readonly window: ExplainedWindow | null;
}

/** A cell without a finite value on the way from a factor to the first cause. */
export interface ReasonStep extends WrittenPlace {
  readonly time: string;
  /** Null or infinite. */
  readonly value: number | null;
  /**
   * Why: `null_input`, `null_in_window`, `null_today` and `infinite_input` lead to the next step, the last step has the
   * first cause.
   */
  readonly cause: NullCause;
  /** The arguments with the values that the operator saw. */
  readonly inputs: readonly WrittenPlace[];
  readonly window: ExplainedWindow;
}

/** What a cell depends on: no other input cell changes it. */
export interface Dependency {
  readonly field: string;
  /** First time, inclusive. */
  readonly from: string;
  /** Last time, inclusive. */
  readonly to: string;
  /** True where an operator across the row is in between: then the cells of all instruments count. */
  readonly ofAllSymbols: boolean;
}

/** Why a cell of a factor has the value that it has. */
export interface Explanation {
  readonly factor: string;
  readonly symbol: string;
  readonly time: string;
  /** The value that `evaluate` gives, to the bit; null for null. */
  readonly value: number | null;
  /** The first cause of a null; null where there is a value. */
  readonly cause: NullCause | null;
  readonly expression: ExplainedExpression;
  /** From the factor to the first cause; empty where there is a value. */
  readonly chain: readonly ReasonStep[];
  readonly dependsOn: readonly Dependency[];
}
