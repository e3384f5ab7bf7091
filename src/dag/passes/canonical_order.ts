import type { Dag, Task } from "../dag.ts";
import { rebuildDag } from "../rebuild.ts";

/**
 * canonical_order: `volume * close` beside `close * volume` -> one task where the operator is commutative to the last
 * bit.
 *
 * Algorithm: one sweep in topological order; a task whose operator declares the law "commutative" is interned as if its
 * inputs were sorted by their new ids. Since equal subgraphs have equal ids, expressions that differ only in operand
 * order at any depth become one task, with its operands in the order in which they are written first.
 * Hazards: the law must hold bit for bit; a test of the registry checks this on extreme values.
 * Misses: associativity (`a + (b + c)` and `(a + b) + c` round differently and stay separate).
 */
export function canonicalOrder(dag: Dag, isSharing: boolean): Dag {
  return rebuildDag(dag, isSharing, (task, builder) => builder.add(task, sorted(task)));
}

/** The task with the operands of commutative operators sorted by id. */
export function sorted(task: Task): Task {
  if (task.kind !== "call" || !task.operator.laws?.includes("commutative")) return task;
  return { ...task, inputs: task.inputs.toSorted((a, b) => a - b) };
}
