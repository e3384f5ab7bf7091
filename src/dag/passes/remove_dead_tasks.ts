import type { Dag } from "../dag.ts";
import { pruneDag } from "../prune.ts";

/**
 * remove_dead_tasks: removes tasks that no factor depends on.
 *
 * Algorithm: one sweep against the topological order marks what outputs depend on, one along it copies that. Folding
 * and simplifying replace tasks and leave the replaced ones behind.
 * Hazards: ids change, so it runs after every pass that leaves tasks behind. A factor stays whatever its condition.
 * Misses: tasks needed only by factors whose conditions never hold; calls leave those out.
 */
export function removeDeadTasks(dag: Dag): Dag {
  return pruneDag(dag);
}
