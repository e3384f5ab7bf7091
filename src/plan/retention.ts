import { windowRowsOf } from "../operator/definition.ts";
import type { Registry } from "../operator/registry.ts";
import type { Operand, Plan, PlanNode, PlanTask } from "./plan.ts";

/**
 * Gaps of up to this many rows are replayed row by row, so every column that a node with windows or recursions reads
 * under conditions keeps that many rows more. After a longer gap, windows are made from as many rows as they look back;
 * recursions have no longer one.
 */
const SHORT_GAP_ROWS = 64;

/** Lookback of a recursive task, in rows. */
export const ALL_ROWS = Number.POSITIVE_INFINITY;

/** Rows of the largest windows that a warm-up rebuilds: for a row that takes eight times as long as moving on. */
const REBUILT_ROWS_MAX = 64;

/** What retention needs of a node. */
type RetainedNode = Pick<PlanNode, "tasks">;

/**
 * Computes how far back nodes catch up, and the rows that columns keep for that: how many rows early a skipped node must start, so that its state at the block's first row is that of a node
 * that was never skipped.
 *
 * One sweep over the nodes, last to first. A node starts with windows rebuilt from its columns. What it takes from
 * other nodes is exact, provided they caught up for as many rows as it reads. What it looks back to in its own columns
 * is exact once the window has moved past the rows before the start. Nodes with recursive tasks have to run every row,
 * and so do those that they read.
 */
export class Retention {
  /** `PlanNode.catchUpRows` and `PlanNode.replayRows` of each node. */
  readonly catchUpRows: (number | null)[];
  readonly replayRows: number[];
  /** For each column rows beyond those that windows read. */
  readonly spareRows = new Map<number, number>();
  readonly #tasks: readonly PlanTask[];
  /** For each task the rows of its window; 0 for tasks that read the current row only, `ALL_ROWS` for recursive ones. */
  readonly #windowRows: readonly number[];
  readonly #canSkip: readonly boolean[];
  readonly #nodeOf = new Map<number, number>();
  /** For each task that others read, how many rows before the block's first row must be exact. */
  readonly #rowsRead = new Map<number, number>();

  /** @param canSkip for each node whether runs may skip it, so that it has to catch up */
  constructor(
    tasks: readonly PlanTask[],
    windowRows: readonly number[],
    nodes: readonly RetainedNode[],
    canSkip: readonly boolean[],
    outputColumns: ReadonlySet<number>,
  ) {
    this.#tasks = tasks;
    this.#windowRows = windowRows;
    this.#canSkip = canSkip;
    this.catchUpRows = nodes.map(() => 0);
    this.replayRows = nodes.map(() => 0);
    nodes.forEach((node, id) => {
      for (const task of node.tasks) this.#nodeOf.set(task, id);
    });
    tasks.forEach(({ column }, task) => {
      if (column !== null && outputColumns.has(column)) this.#rowsRead.set(task, 0);
    });
    for (let id = nodes.length - 1; id >= 0; id--) {
      const node = nodes[id] as RetainedNode;
      if (node.tasks.some((task) => windowRows[task] === ALL_ROWS)) this.catchUpRows[id] = null;
      if (canSkip[id]) this.#visit(id, node);
    }
  }

  #visit(id: number, { tasks }: RetainedNode): void {
    const replayRows = this.#replayRowsOf(id, tasks);
    this.replayRows[id] = replayRows;
    for (const task of tasks) {
      const { operands, group } = this.#tasks[task] as PlanTask;
      if (group !== null) this.#spare(group, replayRows);
      for (const operand of operands) this.#noteRead(id, task, operand);
    }
  }

  #replayRowsOf(id: number, tasks: readonly number[]): number {
    if (this.catchUpRows[id] === null) return SHORT_GAP_ROWS;
    const catchUpRows = this.#rowsToStart(id, tasks);
    this.catchUpRows[id] = catchUpRows;
    const hasWindows = tasks.some((task) => (this.#windowRows[task] as number) > 0);
    return Math.max(catchUpRows, hasWindows ? SHORT_GAP_ROWS : 0, this.replayRows[id] as number);
  }

  /** How many rows early the node starts, so that all its results that others read are exact in time. */
  #rowsToStart(id: number, tasks: readonly number[]): number {
    const rightAfter = new Map<number, number>();
    let most = 0;
    for (const task of tasks) {
      const passes = Math.max(0, (this.#windowRows[task] as number) - 1);
      let rows = 0;
      for (const operand of (this.#tasks[task] as PlanTask).operands) {
        if (operand.kind === "task" && this.#nodeOf.get(operand.task) === id) {
          rows = Math.max(rows, (rightAfter.get(operand.task) as number) + passes);
        }
      }
      rightAfter.set(task, rows);
      const read = this.#rowsRead.get(task);
      if (read !== undefined) most = Math.max(most, read + rows);
    }
    return most;
  }

  #noteRead(id: number, task: number, operand: Operand): void {
    const replayRows = this.replayRows[id] as number;
    if (operand.kind === "number") return;
    if (operand.kind === "column") {
      this.#spare(operand.column, replayRows);
      return;
    }
    const { column } = this.#tasks[operand.task] as PlanTask;
    if (column !== null) this.#spare(column, replayRows);
    const source = this.#nodeOf.get(operand.task) as number;
    if (source === id || !this.#canSkip[source]) return;
    const catchUpRows = this.catchUpRows[id] as number | null;
    if (catchUpRows === null) {
      this.catchUpRows[source] = null;
      return;
    }
    const rows = catchUpRows + (this.#windowRows[task] as number);
    this.#rowsRead.set(operand.task, Math.max(rows, this.#rowsRead.get(operand.task) ?? 0));
    // A node that replays a gap needs its inputs replayed over the same rows.
    this.replayRows[source] = Math.max(replayRows, this.replayRows[source] as number);
  }

  #spare(column: number, rows: number): void {
    this.spareRows.set(column, Math.max(rows, this.spareRows.get(column) ?? 0));
  }
}

/**
 * For each node how many rows before the last one of a warm-up it begins, so that it is then as if it had run them all: its
 * windows are rebuilt there. Null: it runs every row.
 */
export function warmUpRows({ tasks, nodes, outputs }: Plan, registry: Registry): (number | null)[] {
  const windowRows = tasks.map(({ operator, settings }) => {
    const known = registry.kernel(operator);
    const rows = windowRowsOf(known, settings);
    return rows > REBUILT_ROWS_MAX ? ALL_ROWS : known.axis === "rolling" ? rows : 0;
  });
  const outputColumns = new Set(outputs.map(({ column }) => column));
  const canSkip = nodes.map(() => true);
  const { catchUpRows } = new Retention(tasks, windowRows, nodes, canSkip, outputColumns);
  return nodes.map(({ id, kind }) => (kind === "input" ? null : catchUpRows[id]!));
}
