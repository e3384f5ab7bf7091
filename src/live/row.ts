import type { FactorTable } from "../data/factors/factor_table.ts";

/**
 * What became of a factor: `on_time` in the row's table, whenever that came, `late` in that of `row.late`, `skipped` by the budget, or
 * `unwanted` by its condition.
 */
export type FactorTag = "on_time" | "late" | "skipped" | "unwanted";

export interface RowTiming {
  /** From the call of `push` to the table, waiting for pushes before included, in ms. */
  readonly totalMs: number;
  readonly stageMs: {
    /** Waiting for what was pushed before. */
    readonly wait: number;
    /** Checking bars and bringing them into columns. */
    readonly stage: number;
    readonly run: number;
    readonly table: number;
  };
  /** The longest chain of nodes, by what nodes have cost so far. */
  readonly criticalPathMs: number;
  /** Nodes of the plan that were run for the newest row, and those that were not. */
  readonly nodesRun: number;
  readonly nodesPruned: number;
  /** What running the newest row was foretold to take. */
  readonly predictedMs: number;
}

/** Factors that came after their row. */
export interface LateRow {
  /** The whole row; its buffers hold until the next push, as those of the row do. */
  readonly table: FactorTable["table"];
  readonly totalMs: number;
}

/** What a push gives. */
export interface LiveRow {
  /**
   * The rows that were pushed, as `evaluate` gives them: time, symbol, one column per factor, for the symbols of the bar,
   * sorted by time, then symbol. Its buffers are used again: they hold until the next push.
   */
  readonly table: FactorTable["table"];
  readonly timing: RowTiming;
  /** What became of each factor in the newest row. */
  readonly tags: ReadonlyMap<string, FactorTag>;
  /** True if the row had a budget and its table came later than that, whatever the tags say. */
  readonly missedBudget: boolean;
  /** Resolves when the factors that are tagged `late` have come; null if there are none. */
  readonly late: Promise<LateRow> | null;
}
