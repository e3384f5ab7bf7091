import type { Dag } from "../dag.ts";
import { pruneDag } from "../prune.ts";

/**
 * remove_dead_tasks: tasks that no factor reaches -> nothing.
 *
 * Algorithm: one sweep against the topological order marks what the outputs reach, one along it keeps that. Folding and
 * simplifying put tasks in the place of others and leave those behind.
 * Hazards: ids change, so it comes behind every pass that leaves tasks behind. A factor stays whatever its condition.
 * Misses: tasks that only factors under conditions that never hold reach; calls leave those out.
 */
export function removeDeadTasks(dag: Dag): Dag {
  return pruneDag(
    dag,
    dag.outputs.map(() => true),
  );
}
