import type { Dag, Task } from "../dag/dag.ts";
import { LINE_BYTES, wholeLines } from "./cache_lines.ts";
import { ARENA_HEAD_BYTES, type ColumnSource, type PlanColumn } from "./plan.ts";

/** Collects the series to keep in columns and the rows to keep of each, then lays the columns out. */
export class ColumnTable {
  readonly #dag: Dag;
  readonly #drafts: { source: ColumnSource; task: number | null; historyRows: number }[] = [];
  readonly #columnOfTask = new Map<number, number>();
  readonly #columnOfGroup = new Map<string, number>();

  constructor(dag: Dag) {
    this.#dag = dag;
  }

  /** The column of a task of the graph; created on first use. */
  columnOf(task: number): number {
    const known = this.#columnOfTask.get(task);
    if (known !== undefined) return known;
    const column = this.#add(sourceOf(this.#dag.tasks[task] as Task), task);
    this.#columnOfTask.set(task, column);
    return column;
  }

  knownColumn(task: number): number | null {
    return this.#columnOfTask.get(task) ?? null;
  }

  groupColumn(name: string): number {
    const known = this.#columnOfGroup.get(name);
    if (known !== undefined) return known;
    const column = this.#add({ kind: "group", name }, null);
    this.#columnOfGroup.set(name, column);
    return column;
  }

  /** Keeps at least this many rows before the current one. */
  keepRows(task: number, historyRows: number): void {
    const draft = this.#drafts[this.columnOf(task)] as { historyRows: number };
    draft.historyRows = Math.max(draft.historyRows, historyRows);
  }

  /** Columns filled from outside the graph. */
  inputColumns(): number[] {
    return this.#drafts.flatMap(({ source }, column) => (source.kind === "task" ? [] : [column]));
  }

  /**
   * @param spareRows rows of a column beyond those that windows read, for nodes that catch up
   * @param runRows rows that may have begun beyond those that have ended for good: of blocks under way
   */
  layOut(
    taskIds: ReadonlyMap<number, number>,
    spareRows: ReadonlyMap<number, number>,
    laneCount: number,
    runRows: number,
  ): { columns: PlanColumn[]; rowBytes: number; columnBytes: number } {
    const rowBytes = bytesOfRow(laneCount);
    let byteOffset = ARENA_HEAD_BYTES;
    const columns = this.#drafts.map(({ source, task, historyRows }, id): PlanColumn => {
      const ringRows = historyRows + (spareRows.get(id) ?? 0) + runRows;
      const column = {
        source:
          source.kind === "task"
            ? { kind: source.kind, task: taskIds.get(task as number) as number }
            : source,
        historyRows,
        ringRows,
        byteOffset,
      };
      byteOffset += ringRows * rowBytes;
      return column;
    });
    return { columns, rowBytes, columnBytes: byteOffset };
  }

  #add(source: ColumnSource, task: number | null): number {
    return this.#drafts.push({ source, task, historyRows: 0 }) - 1;
  }
}

/**
 * An odd number of whole cache lines: rows whose distance is a power of two would compete for few sets of the cache.
 */
function bytesOfRow(laneCount: number): number {
  const bytes = wholeLines(laneCount * Float64Array.BYTES_PER_ELEMENT);
  return (bytes / LINE_BYTES) % 2 === 0 ? bytes + LINE_BYTES : bytes;
}

function sourceOf(task: Task): ColumnSource {
  if (task.kind === "number") return { kind: "number", value: task.value };
  if (task.kind === "call") return { kind: "task", task: -1 };
  return { kind: task.kind, name: task.name };
}
