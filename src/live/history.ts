import type { RecurrentPlan } from "../kernel/run/recurrences.ts";
import { type KernelOperator, windowRowsOf } from "../operator/definition.ts";
import type { Plan, PlanTask } from "../plan/plan.ts";

/** All values are exact: those of a session that has always run the task. */
const ALWAYS = Number.NEGATIVE_INFINITY;
/** No value is exact. */
const NEVER = Number.POSITIVE_INFINITY;

/** The recursive tasks, by fingerprint, whose carried values before a row are known exactly. */
export interface ExactPoint {
  readonly row: number;
  readonly exact: ReadonlySet<string>;
}

/**
 * Factors without the bits of the whole history, by name: how many more rows they need for them. Infinite: they apply a
 * recursive operator whose carried values are not known.
 */
export type ShortOfHistory = Readonly<Record<string, number>>;

/** How much history a plan needs to be rebuilt. */
export interface HistoryNeed {
  /** The largest sum of the lookback of windows on a path, also across recursive operators. */
  readonly lookbackRows: number;
  /** The largest number of recursive operators on a path. */
  readonly recursions: number;
}

/**
 * For each task of a plan the first row from which on its values are exact: those of a session that has always run it. The
 * plan is run over rows from `first` on, and recursive operators take over carried values at `points`.
 *
 * A window is exact once it covers exact rows only; a recursive operator from the first point at which its inputs are
 * exact. If the rows begin with the first row of the session, all values are exact.
 *
 * @param points ascending
 */
export function exactRows(
  { plan, registry }: Pick<RecurrentPlan, "plan" | "registry">,
  first: number,
  points: readonly ExactPoint[],
): number[] {
  const inputRow = first === 0 ? ALWAYS : first;
  const rows: number[] = [];
  for (const task of plan.tasks) {
    const operator = registry.kernel(task.operator);
    const below = maxOfInputs(rows, task, inputRow);
    if (operator.axis !== "recursive") rows.push(below + lookbackOf(operator, task));
    else if (below === ALWAYS) rows.push(ALWAYS);
    else rows.push(points.find(({ row, exact }) => row >= below && isExact(task, exact))?.row ?? NEVER);
  }
  return rows;
}

/** Whether the carried values of a task are among the exact ones. */
function isExact({ fingerprints }: PlanTask, exact: ReadonlySet<string>): boolean {
  return fingerprints.some((one) => exact.has(one));
}

/** The first exact row of an output of the plan; columns of input are always exact. */
export function exactRowOfOutput(
  { columns, outputs }: Plan,
  taskRows: readonly number[],
  output: number,
): number {
  const { source } = columns[outputs[output]!.column]!;
  return source.kind === "task" ? taskRows[source.task]! : ALWAYS;
}

export function historyNeedOf({ plan, registry }: Pick<RecurrentPlan, "plan" | "registry">): HistoryNeed {
  const rows: number[] = [];
  const recursions: number[] = [];
  for (const task of plan.tasks) {
    const operator = registry.kernel(task.operator);
    const isRecursive = operator.axis === "recursive";
    rows.push(maxOfInputs(rows, task, 0) + (isRecursive ? 0 : lookbackOf(operator, task)));
    recursions.push(maxOfInputs(recursions, task, 0) + (isRecursive ? 1 : 0));
  }
  return { lookbackRows: maxOf(rows, 0), recursions: maxOf(recursions, 0) };
}

/** The largest value of the tasks that a task reads; its other inputs have the value `other`. */
function maxOfInputs(values: readonly number[], { operands }: PlanTask, other: number): number {
  return maxOf(
    operands.flatMap((operand) => (operand.kind === "task" ? values[operand.task]! : [])),
    other,
  );
}

/** Without a spread: a plan may have more tasks than a call may have arguments. */
function maxOf(values: readonly number[], start: number): number {
  return values.reduce((max, value) => Math.max(max, value), start);
}

/** Rows before the current one that a task reads. */
function lookbackOf(operator: KernelOperator, { settings }: PlanTask): number {
  return windowRowsOf(operator, settings) - 1;
}
