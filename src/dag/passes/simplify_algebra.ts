import type { Registry } from "../../operator/registry.ts";
import type { CallTask, Dag, DagBuilder, Task } from "../dag.ts";
import { equationsOf } from "../laws.ts";
import { rebuildDag } from "../rebuild.ts";
import { rewrite } from "./rewriting.ts";

/** Laws applied to one task at most. Those of the built-in operators terminate; a user's might not. */
const LAWS_PER_TASK_MAX = 16;

/**
 * simplify_algebra: `-(-x) / 4` -> `x * 0.25`, `delay(delay(x, 1), 2)` -> `delay(x, 3)`, `!(x < y)` -> `x >= y`.
 *
 * Algorithm: one sweep in topological order. Each task is compared with the left sides of the equations that its
 * operator declares as laws; the right side of the first match replaces it and is compared again. Inputs come first, so
 * they are already simplified. A right side that contains only numbers is folded.
 * Hazards: a law must hold bit for bit on every value, zeros of both signs, infinities and nulls: `x + 0` is not `x`,
 * since -0 + 0 is 0. A test of the registry tries every declared law on such values. Where a law makes a window longer,
 * it must stay within the limit of formulas.
 * Misses: operands in another order where both sides of a repeated name are commutative (`min(a * b, b * a)`); windows
 * with min_periods; laws for parts of a right side (only its outermost task is compared again); laws within groups.
 */
export function simplifyAlgebra(dag: Dag, isSharing: boolean, registry: Registry): Dag {
  return rebuildDag(dag, isSharing, (task, builder) => {
    const simple = simplified(task, builder, registry);
    return typeof simple === "number" ? simple : builder.add(simple);
  });
}

/** The simplest form of a task, or the id of an existing task that gives the same. */
export function simplified(task: Task, builder: DagBuilder, registry: Registry): Task | number {
  let simple = task;
  for (let count = 0; count < LAWS_PER_TASK_MAX && simple.kind === "call"; count++) {
    const next = rewritten(simple, builder, registry);
    if (next === null || typeof next === "number") return next ?? simple;
    simple = next;
  }
  return simple;
}

function rewritten(task: CallTask, builder: DagBuilder, registry: Registry): Task | number | null {
  for (const equation of equationsOf(task.operator, registry)) {
    const next = rewrite(task, equation, builder);
    if (next !== null) return next;
  }
  return null;
}
