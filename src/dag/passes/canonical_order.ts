import type { Dag, Task } from "../dag.ts";
import { rebuildDag } from "../rebuild.ts";

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
  return rebuildDag(dag, isSharing, (task, builder) => builder.add(sorted(task)));
}

function sorted(task: Task): Task {
  if (task.kind !== "call" || !task.operator.laws?.includes("commutative")) return task;
  return { ...task, inputs: task.inputs.toSorted((a, b) => a - b) };
}
