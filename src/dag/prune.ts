import { type Dag, inputsOf, type Output, type Task } from "./dag.ts";
import { withInputsAt } from "./rebuild.ts";

/**
 * The graph of the wanted outputs, by default all, and what they depend on, in the same order. Everything in it is needed, so it has no
 * condition sets.
 */
export function pruneDag(dag: Dag, isWanted: (output: Output, index: number) => boolean = () => true): Dag {
  const outputs = dag.outputs.filter(isWanted);
  const isNeeded = new Uint8Array(dag.tasks.length);
  for (const { task } of outputs) isNeeded[task] = 1;
  for (let id = dag.tasks.length - 1; id >= 0; id--) {
    if (isNeeded[id]) for (const input of inputsOf(dag.tasks[id] as Task)) isNeeded[input] = 1;
  }
  const newIds = new Int32Array(dag.tasks.length);
  const tasks: Task[] = [];
  dag.tasks.forEach((task, id) => {
    if (isNeeded[id]) newIds[id] = tasks.push(withInputsAt(task, newIds)) - 1;
  });
  const { conditionSets: _, ...rest } = dag;
  return {
    ...rest,
    tasks,
    outputs: outputs.map((output) => ({ ...output, task: newIds[output.task] as number })),
  };
}
