import { type Dag, inputsOf } from "../dag/dag.ts";
import { windowRowsOf } from "../operator/definition.ts";

export function lookbackRows(dag: Dag): number[] {
  const rows: number[] = [];
  for (const task of dag.tasks) {
    const below = inputsOf(task).reduce((most, input) => Math.max(most, rows[input] as number), 0);
    rows.push(task.kind === "call" ? below + windowRowsOf(task.operator, task.settings) - 1 : 0);
  }
  return rows;
}
