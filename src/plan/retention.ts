import type { Operand, PlanNode, PlanTask } from "./plan.ts";

/**
 * Gaps up to so many rows are run row by row; every column that a node with windows reads under conditions keeps so many
 * rows more. To make the state of one lane of a window anew takes the host as long as the code takes for some 60 rows:
 * measured 0.39 us for a mean over 20 rows, 3 us over 250, 3 us for a deviation over 20, against 6 to 9 ns a row.
 */
const SHORT_GAP_ROWS = 64;

/** A node as far as retention has to know it. */
export type RetainedNode = Pick<PlanNode, "tasks">;

/** How far back nodes catch up, and how many rows columns keep for that. */
export interface Retention {
  /** For each node `PlanNode.catchUpRows` and `PlanNode.replayRows`. */
  readonly catchUpRows: readonly number[];
  readonly replayRows: readonly number[];
  /** For each column rows beyond those that windows read. */
  readonly spareRows: ReadonlyMap<number, number>;
}

/**
 * Decides from how many rows back a node that was skipped must start, so that by the block's first row all is as if it
 * had never been skipped.
 *
 * One sweep over the nodes from the last to the first. A node starts with windows made anew from its columns. What it
 * takes from other nodes is right there, so they must have caught up to as many rows before as it reads; what it looks
 * back to in columns of its own is right only once the window has passed through rows that are.
 */
export class RetentionSweep implements Retention {
  readonly catchUpRows: number[];
  readonly replayRows: number[];
  readonly spareRows = new Map<number, number>();
  readonly #tasks: readonly PlanTask[];
  /** For each task the rows of its window, 0 for those that look at the current row alone. */
  readonly #windowRows: readonly number[];
  readonly #canSkip: readonly boolean[];
  readonly #nodeOf = new Map<number, number>();
  /** For each task that others read how many rows before the block's first row must be right. */
  readonly #rowsRead = new Map<number, number>();

  /** @param canSkip for each node whether runs may leave it out, so that it has to catch up */
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
      if (canSkip[id]) this.#visit(id, node);
    }
  }

  #visit(id: number, { tasks }: RetainedNode): void {
    const catchUpRows = this.#rowsToStart(id, tasks);
    const hasWindows = tasks.some((task) => (this.#windowRows[task] as number) > 0);
    const ownReplay = Math.max(catchUpRows, hasWindows ? SHORT_GAP_ROWS : 0);
    const replayRows = Math.max(ownReplay, this.replayRows[id] as number);
    this.catchUpRows[id] = catchUpRows;
    this.replayRows[id] = replayRows;
    for (const task of tasks) {
      const { operands, group } = this.#tasks[task] as PlanTask;
      if (group !== null) this.#spare(group, replayRows);
      for (const operand of operands) this.#noteRead(id, task, operand);
    }
  }

  /** Rows before the first that the node starts at, for all its results that others read to be right in time. */
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
    const rows = (this.catchUpRows[id] as number) + (this.#windowRows[task] as number);
    this.#rowsRead.set(operand.task, Math.max(rows, this.#rowsRead.get(operand.task) ?? 0));
    // Who replays a gap finds what it reads replayed over the same rows.
    this.replayRows[source] = Math.max(replayRows, this.replayRows[source] as number);
  }

  #spare(column: number, rows: number): void {
    this.spareRows.set(column, Math.max(rows, this.spareRows.get(column) ?? 0));
  }
}
