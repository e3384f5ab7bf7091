import { inputsOf, type Task } from "../dag/dag.ts";
import { windowRowsOf } from "../operator/definition.ts";
import { readsRow } from "./row_blame.ts";

/** How far a cell of a task reads a field. */
export interface FieldReach {
  readonly field: string;
  /** Rows before the cell's own that count; Infinity for all of them. */
  readonly rowsAgo: number;
  readonly ofAllLanes: boolean;
}

/** What a cell of a task depends on. */
export interface Reach {
  /** Rows before the cell's own, also those in which only numbers or params are read; Infinity for all of them. */
  readonly rowsAgo: number;
  readonly fields: readonly FieldReach[];
}

/** What a cell of a task depends on. Algorithm: one sweep from the task to its inputs adds up windows. */
export function reachOf(tasks: readonly Task[], root: number, universe: number | null): Reach {
  const rowsAgo = new Float64Array(tasks.length).fill(-1);
  const ofAllLanes = new Uint8Array(tasks.length);
  rowsAgo[root] = 0;
  const reach = (id: number, rows: number, isRow: boolean) => {
    rowsAgo[id] = Math.max(rowsAgo[id]!, rows);
    if (isRow) ofAllLanes[id] = 1;
  };
  // Every operator across the row reads the universe, wherever it stands: so it is swept last.
  let universeRows = -1;
  const sweep = (from: number) => {
    for (let id = from; id >= 0; id--) {
      const task = tasks[id]!;
      if (rowsAgo[id]! < 0 || task.kind !== "call") continue;
      const rows = rowsAgo[id]! + windowRowsOf(task.operator, task.settings) - 1;
      const isRow = ofAllLanes[id] === 1 || readsRow(task);
      for (const input of inputsOf(task)) reach(input, rows, isRow);
      if (readsRow(task)) universeRows = Math.max(universeRows, rowsAgo[id]!);
    }
  };
  sweep(root);
  if (universe !== null && universeRows >= 0) {
    reach(universe, universeRows, true);
    sweep(tasks.length - 1);
  }
  const fields = tasks.flatMap((task, id) =>
    task.kind === "field" && rowsAgo[id]! >= 0
      ? [{ field: task.name, rowsAgo: rowsAgo[id]!, ofAllLanes: ofAllLanes[id] === 1 }]
      : [],
  );
  return { rowsAgo: rowsAgo.reduce((most, rows) => Math.max(most, rows), 0), fields };
}
