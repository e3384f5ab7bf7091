import type { RecurrentPlan } from "../kernel/recurrences.ts";
import { type KernelOperator, windowRowsOf } from "../operator/definition.ts";
import type { Plan, PlanTask } from "../plan/plan.ts";

/** Values from this row on, and all before it, are those of a session that has always run the task. */
const ALWAYS = Number.NEGATIVE_INFINITY;
/** There is no such row. */
const NEVER = Number.POSITIVE_INFINITY;

/** What recursive operators of a program carried before a row: which of them, by their numbers, exactly that. */
export interface ExactPoint {
  readonly row: number;
  readonly exact: ReadonlySet<number>;
}

/** How much of its history a plan needs to be rebuilt. */
export interface Reach {
  /** The largest sum of rows that windows look back on a path, those over recursive operators included. */
  readonly lookbackRows: number;
  /** Most recursive operators on a path. */
  readonly recursions: number;
}

/**
 * For each task of a plan the row from which on its values are those of a session that has always run it, where the plan
 * is run over rows from `first` on and recursive operators are given what they carried at these points.
 *
 * A window is right once it has passed over rows that are; a recursive operator from the first point on at which its
 * inputs are right. Where the rows reach back to the first one of the session, all is right.
 *
 * @param points ascending
 */
export function exactRows(
  { plan, registry }: Pick<RecurrentPlan, "plan" | "registry">,
  numbers: readonly number[],
  first: number,
  points: readonly ExactPoint[],
): number[] {
  const inputRow = first === 0 ? ALWAYS : first;
  const rows: number[] = [];
  plan.tasks.forEach((task, id) => {
    const operator = registry.kernel(task.operator);
    const below = largest(rows, task, inputRow);
    if (operator.axis !== "recursive") rows.push(below + passes(operator, task));
    else if (below === ALWAYS) rows.push(ALWAYS);
    else rows.push(points.find(({ row, exact }) => row >= below && exact.has(numbers[id]!))?.row ?? NEVER);
  });
  return rows;
}

/** The same for an output of the plan; those that are columns of input are always right. */
export function exactRowOfOutput(
  { columns, outputs }: Plan,
  taskRows: readonly number[],
  output: number,
): number {
  const { source } = columns[outputs[output]!.column]!;
  return source.kind === "task" ? taskRows[source.task]! : ALWAYS;
}

export function reachOf({ plan, registry }: Pick<RecurrentPlan, "plan" | "registry">): Reach {
  const rows: number[] = [];
  const recursions: number[] = [];
  for (const task of plan.tasks) {
    const operator = registry.kernel(task.operator);
    const isRecursive = operator.axis === "recursive";
    rows.push(largest(rows, task, 0) + (isRecursive ? 0 : passes(operator, task)));
    recursions.push(largest(recursions, task, 0) + (isRecursive ? 1 : 0));
  }
  return {
    lookbackRows: rows.reduce((most, one) => Math.max(most, one), 0),
    recursions: recursions.reduce((most, one) => Math.max(most, one), 0),
  };
}

/** The largest number of the tasks that a task reads, and of `other`, that of its other inputs. */
function largest(numbers: readonly number[], { operands }: PlanTask, other: number): number {
  return operands.reduce(
    (most, operand) => (operand.kind === "task" ? Math.max(most, numbers[operand.task]!) : most),
    other,
  );
}

/** Rows before the current one that a task looks back to. */
function passes(operator: KernelOperator, { settings }: PlanTask): number {
  return windowRowsOf(operator, settings) - 1;
}
