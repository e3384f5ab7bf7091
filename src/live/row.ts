import type { Table } from "apache-arrow";

/**
 * Where a factor is: `on_time` in the row's table, even if that missed the budget, `late` in the table of `row.late`,
 * nowhere if `skipped` by the budget or `unwanted` by its condition.
 */
export type FactorTag = "on_time" | "late" | "skipped" | "unwanted";

/** Where each factor is, by name. */
export type FactorTags = Readonly<Record<string, FactorTag>>;

/** Where the time of a push went, and what was expected. */
export interface RowTiming {
  /** From the call of `push` to the table, including the wait for earlier pushes, in ms. */
  readonly totalMs: number;
  /** Its parts: waiting for earlier pushes, checking bars and copying them into columns, computing, making the table. */
  readonly stageMs: {
    readonly wait: number;
    readonly stage: number;
    readonly run: number;
    readonly table: number;
  };
  /** The longest chain of nodes, by the average cost of nodes. */
  readonly criticalPathMs: number;
  /** Nodes of the plan that were run for the newest row. */
  readonly nodesRun: number;
  /** Nodes of the plan that were not, because no wanted factor needs them. */
  readonly nodesPruned: number;
  /** Predicted run time of the newest row. */
  readonly predictedMs: number;
}

/** A row with factors that came late. */
export interface LateRow {
  /** The whole row. */
  readonly table: Table;
  /** From the call of `push` to this table, in ms. */
  readonly totalMs: number;
}

/** The result of a push. */
export interface LiveRow {
  /**
   * The pushed rows in the form of `evaluate`: time, symbol, one column per factor, for the symbols of the bar, sorted by
   * time, then symbol. It is the caller's own.
   */
  readonly table: Table;
  readonly timing: RowTiming;
  /** Where each factor of the newest row is. */
  readonly tags: FactorTags;
  /** Whether the table came later than the budget allows, whatever the tags say. */
  readonly missedBudget: boolean;
  /** Resolves with the factors tagged `late`; null if no factor is late. */
  readonly late: Promise<LateRow> | null;
}
