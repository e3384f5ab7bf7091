import { type Dag, DagBuilder, type Task } from "../dag.ts";

/**
 * canonical_order: `volume * close` -> `close * volume` where the operator is commutative to the last bit.
 *
 * Algorithm: one sweep in topological order; the two inputs of a task whose operator declares the law
 * "commutative" are sorted by their new ids, and the task is interned again. Since equal subgraphs have equal ids,
 * expressions that differ only in operand order at any depth become one task.
 * Hazards: the law must hold bit for bit, which a test of the registry checks on extreme values.
 * Misses: associativity (`a + (b + c)` and `(a + b) + c` round differently and stay apart).
 */
export function canonicalOrder(dag: Dag, isSharing: boolean): Dag {
  const builder = new DagBuilder(isSharing);
  const ids: number[] = [];
  for (const task of dag.tasks) ids.push(builder.add(reorder(task, ids)));
  const outputs = dag.outputs.map((output) => ({ ...output, task: ids[output.task] as number }));
  return { ...dag, tasks: builder.tasks, outputs };
}

function reorder(task: Task, ids: readonly number[]): Task {
  if (task.kind !== "call") return task;
  const inputs = task.inputs.map((input) => ids[input] as number);
  if (task.operator.laws?.includes("commutative")) inputs.sort((a, b) => a - b);
  const isSame = inputs.every((input, i) => input === task.inputs[i]);
  return isSame ? task : { ...task, inputs };
}
