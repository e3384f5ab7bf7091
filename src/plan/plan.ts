import type { Settings } from "../operator/definition.ts";

/** Where a task finds one argument. */
export type Operand =
  /** The value of another task: in a register if that is in the same node, else in its column. */
  | { readonly kind: "task"; readonly task: number }
  | { readonly kind: "column"; readonly column: number }
  /** A number, the same for every cell. */
  | { readonly kind: "number"; readonly value: number };

/** One operator application: the operator, its compile-time arguments, and the sources of the others. */
export interface PlanTask {
  readonly operator: string;
  readonly settings: Settings;
  /** Valid rows that a window needs, if the formula says so. */
  readonly minPeriods: number | null;
  /** Series arguments in parameter order. */
  readonly operands: readonly Operand[];
  /** Column of group codes of a group operator. */
  readonly group: number | null;
  /** The column that keeps its values, if an output, another node or a window reads them. */
  readonly column: number | null;
  /** `CallTask.fingerprints` of a recursive task, by which its state is saved. */
  readonly fingerprints: readonly string[];
}

/** The source of a column. Params and numbers fill it with one value per row. */
export type ColumnSource =
  | { readonly kind: "field"; readonly name: string }
  /** Codes of a group column as numbers, NaN for null. */
  | { readonly kind: "group"; readonly name: string }
  | { readonly kind: "param"; readonly name: string }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "task"; readonly task: number };

/**
 * The rows of one series kept in memory: a ring of `ringRows` rows of `rowBytes` bytes each. Row `t` of the run (0 for
 * the first) is slot `t mod ringRows`. A block of up to `blockRows` rows never overwrites a row that a reader of the
 * same block looks back to, so a part can run again until its block is committed. What a conditional node reads is kept
 * for longer, so that the node can start earlier after it was skipped.
 */
export interface PlanColumn {
  readonly source: ColumnSource;
  readonly historyRows: number;
  readonly ringRows: number;
  readonly byteOffset: number;
}

/** What a node computes: columns from the panel, lane by lane, or row by row. */
export type NodeKind = "input" | "lanes" | "rows";

/**
 * The unit of scheduling. An `input` node copies rows of the panel into columns; a `lanes` node runs elementwise,
 * rolling and recursive tasks lane by lane; a `rows` node runs one cross-section or group task row by row.
 */
export interface PlanNode {
  readonly id: number;
  readonly kind: NodeKind;
  /** Ids of its tasks in execution order. */
  readonly tasks: readonly number[];
  readonly columns: readonly number[];
  /** Its outputs, as indices into `Plan.outputs`. */
  readonly outputs: readonly number[];
  /** Ids of the nodes whose columns it reads, each once, ascending. */
  readonly inputs: readonly number[];
  /** Breakdown: the work on a block is split along this axis into `partCount` parts that run in parallel. */
  readonly partAxis: "lanes" | "rows";
  readonly partCount: number;
  /** Estimated ns of the whole node for a full block. */
  readonly costNs: number;
  /** Largest sum of part costs on any path from here to a sink, this node included; the heaviest goes first. */
  readonly weight: number;
  /**
   * The conditions of which one must hold for the node to be needed, as 32-bit words: condition `i` is bit `i % 32` of
   * word `i / 32`. Null: always needed.
   */
  readonly conditions: readonly number[] | null;
  /**
   * After a long gap the node starts this many rows before the block in which it is needed again, with its windows
   * rebuilt from its columns: then everything that others read of it is exact in time. Null for recursions, and what they
   * read, which have no long gap: they run before it becomes one, needed or not. In a session they may fail there, and what
   * needs them later fails too.
   */
  readonly catchUpRows: number | null;
  /** After a gap of at most this many rows it runs the missed rows, with the state it has. */
  readonly replayRows: number;
}

/** One factor of the program. */
export interface PlanOutput {
  readonly name: string;
  readonly column: number;
}

/**
 * Generations of the values that recurrences carry: a block reads one and writes the next, in turn, so that a part can run
 * again, and what was carried before a block can be read after the blocks behind it have begun.
 */
export function generationsOf({ keptBlocks }: Pick<Plan, "keptBlocks">): number {
  return keptBlocks + 1;
}

/** True if runs may leave the node out, and it has to run the missed rows later. */
export function mayRest({ catchUpRows, replayRows }: PlanNode): boolean {
  return catchUpRows === null && replayRows > 0;
}

/**
 * True if the rings of the node's columns have room for the rows of all blocks under way, so that a later block
 * overwrites nothing that an earlier one reads.
 */
export function keepsRowsUnderWay(
  { keptBlocks, blockRows, columns }: Plan,
  node: PlanNode,
  blocksUnderWay: number,
): boolean {
  return keptBlocks >= blocksUnderWay && node.columns.every((id) => columns[id]!.ringRows > blockRows);
}

/** Bytes at the start of the arena for the constants of the kernels. */
export const ARENA_HEAD_BYTES = 32_768;

/**
 * The immutable, serialisable result of compilation for one number of lanes and one block size. Nodes and tasks are in
 * topological order. Columns follow the arena's head, one after the other.
 */
export interface Plan {
  readonly laneCount: number;
  /** Rows of the largest block. */
  readonly blockRows: number;
  /** Blocks whose rows the columns keep, beside those that are looked back to: 1, or as many as may be under way. */
  readonly keptBlocks: number;
  /** Distance of two rows of a column in bytes: whole cache lines, at least `8 * laneCount`. */
  readonly rowBytes: number;
  readonly tasks: readonly PlanTask[];
  readonly columns: readonly PlanColumn[];
  /** End of the columns, in bytes from the start of the arena. */
  readonly columnBytes: number;
  readonly nodes: readonly PlanNode[];
  readonly outputs: readonly PlanOutput[];
}
