import type { Settings } from "../operator/definition.ts";

/** Where a task finds one argument. */
export type Operand =
  /** The value of another task: in a register if it belongs to the same node, else in its column. */
  | { readonly kind: "task"; readonly task: number }
  | { readonly kind: "column"; readonly column: number }
  /** A number that holds for every cell. */
  | { readonly kind: "number"; readonly value: number };

/** One operator application: which operator, its compile-time arguments, and where the others come from. */
export interface PlanTask {
  readonly operator: string;
  readonly settings: Settings;
  /** At least so many valid rows per window, if the formula says so. */
  readonly minPeriods: number | null;
  /** Series arguments in the order of the operator's parameters. */
  readonly operands: readonly Operand[];
  /** Column of group codes of a group operator. */
  readonly group: number | null;
  /** The column that keeps its values, if an output, another node or a window reads them. */
  readonly column: number | null;
}

/** What fills a column. Params and numbers fill it with one value per row. */
export type ColumnSource =
  | { readonly kind: "field"; readonly name: string }
  /** Codes of a group column as numbers, NaN for null. */
  | { readonly kind: "group"; readonly name: string }
  | { readonly kind: "param"; readonly name: string }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "task"; readonly task: number };

/**
 * The rows of one series that are kept in memory: a ring of `ringRows` rows of `rowBytes` bytes each. Row `t` of the
 * run (0 for the first) is slot `t mod ringRows`. A block of up to `blockRows` rows never overwrites a row that a
 * reader of the same block looks back to, so a part can be run again until its block is committed. What a conditional node
 * reads is kept for so many rows more that the node can start earlier after it was skipped.
 */
export interface PlanColumn {
  readonly source: ColumnSource;
  /** Rows before the current one that readers look back to. */
  readonly historyRows: number;
  readonly ringRows: number;
  readonly byteOffset: number;
}

/**
 * The unit that is scheduled. An `input` node brings rows of the panel into columns; a `lanes` node runs elementwise,
 * rolling and recursive tasks lane by lane; a `rows` node runs one cross-section or group task row by row.
 */
export interface PlanNode {
  readonly id: number;
  readonly kind: "input" | "lanes" | "rows";
  /** Ids of its tasks in the order in which they run. */
  readonly tasks: readonly number[];
  /** The columns it writes. */
  readonly columns: readonly number[];
  /** The outputs among them, as indices of `Plan.outputs`. */
  readonly outputs: readonly number[];
  /** Ids of the nodes whose columns it reads, each once, ascending. */
  readonly inputs: readonly number[];
  /** Breakdown: the work on a block is cut along this axis into so many parts that run in parallel. */
  readonly partAxis: "lanes" | "rows";
  readonly partCount: number;
  /** Estimated ns of the whole node for a full block. */
  readonly costNs: number;
  /** Largest sum of costs of parts on any path from here to a sink, this node included; the heaviest goes first. */
  readonly weight: number;
  /**
   * The conditions under one of which it is needed, as words of 32 bits: condition `i` is bit `i % 32` of word `i / 32`.
   * Null: in every run.
   */
  readonly conditions: readonly number[] | null;
  /**
   * A node that was skipped starts so many rows before the block in which it is needed again, with its windows made anew
   * from its columns: then all that others read of it is right in time.
   */
  readonly catchUpRows: number;
  /** If it was skipped for no more rows than these, it runs them from where it stopped, as they are. */
  readonly replayRows: number;
}

/** One factor of the program. */
export interface PlanOutput {
  readonly name: string;
  readonly column: number;
}

/** The arena starts with so many bytes for the constants of the kernels. */
export const ARENA_HEAD_BYTES = 32_768;

/**
 * The immutable, serialisable result of compilation for one number of lanes and one block size. Nodes and tasks are in
 * topological order. Columns follow the arena's head, one after the other.
 */
export interface Plan {
  readonly laneCount: number;
  /** Rows of the largest block. */
  readonly blockRows: number;
  /** Bytes from one row of a column to the next: whole cache lines, at least `8 * laneCount`. */
  readonly rowBytes: number;
  readonly tasks: readonly PlanTask[];
  readonly columns: readonly PlanColumn[];
  /** Where the columns end, in bytes from the start of the arena. */
  readonly columnBytes: number;
  readonly nodes: readonly PlanNode[];
  readonly outputs: readonly PlanOutput[];
}
