import type { NullCause } from "../operator/null_causes.ts";
import type { WrittenPlace } from "./explanation.ts";

/** The nulls of a factor that have the same first cause in the same sub-expression. */
export interface NullSource extends WrittenPlace {
  readonly cause: NullCause;
  readonly cellCount: number;
}

/** Why a factor is null, over all cells of a result. */
export interface FactorNulls {
  readonly factor: string;
  /** Nulls as `evaluate` writes them: infinities too, unless they are kept. */
  readonly nullCount: number;
  /** By first cause, the most frequent first. They add up to `nullCount`. */
  readonly causes: readonly { readonly cause: NullCause; readonly cellCount: number }[];
  /** By sub-expression to blame, the one with the most nulls first. They add up to `nullCount`. */
  readonly sources: readonly NullSource[];
}

export interface NullReport {
  /** Cells of each factor: the rows of the result. */
  readonly cellCount: number;
  /** In program order. */
  readonly factors: readonly FactorNulls[];
}
