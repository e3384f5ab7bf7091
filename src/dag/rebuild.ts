import { type Dag, DagBuilder, type Task } from "./dag.ts";

/**
 * Rebuilds a graph task by task in topological order. `add` gets each task with its inputs' new ids and returns the id
 * of the new graph's task that gives its value.
 */
export function rebuildDag(
  dag: Dag,
  isSharing: boolean,
  add: (task: Task, builder: DagBuilder) => number,
): Dag {
  const builder = new DagBuilder(isSharing);
  const ids: number[] = [];
  for (const task of dag.tasks) ids.push(add(withInputsAt(task, ids), builder));
  const outputs = dag.outputs.map((output) => ({ ...output, task: ids[output.task] as number }));
  return { ...dag, tasks: builder.tasks, outputs };
}

/** The task with other ids of its inputs: by their ids of today. */
export function withInputsAt(task: Task, ids: ArrayLike<number>): Task {
  if (task.kind !== "call") return task;
  const inputs = task.inputs.map((input) => ids[input] as number);
  return inputs.every((input, i) => input === task.inputs[i]) ? task : { ...task, inputs };
}
