import type { RecurrencePoint } from "../checkpoint/state_file.ts";
import { type Dag, inputsOf } from "../dag/dag.ts";
import type { RecurrenceValues, RecurrentPlan } from "../kernel/run/recurrences.ts";
import { type KernelOperator, windowRowsOf } from "../operator/definition.ts";
import type { Plan, PlanTask } from "../plan/plan.ts";

/** Minimum of the default of `retainRows`. */
const ROWS_MIN = 256;
/** Carried values are read between two rows, which do not overlap then. */
const POINT_ROWS_MIN = 64;
/** Of rows whose number is given, at least this many parts begin with a point: a program to come may look back further. */
const PARTS_MIN = 3;

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

/** How many rows are kept. */
export interface RowRetention {
  readonly rows: number;
  /** Rows from one point of carried values to the next. */
  readonly pointRows: number;
}

/** How much history a graph needs to be rebuilt. */
export interface HistoryNeed {
  /** The largest sum of the lookback of windows on a path, also across recursive operators. */
  readonly lookbackRows: number;
  /** The largest number of recursive operators on a path. */
  readonly recursions: number;
  /** Recursive operators: a point has a value, or a few, of each. */
  readonly recursive: number;
  /** Fields that are read: a row has a value of each. */
  readonly fields: number;
  /** The output that looks back furthest. */
  readonly furthest: string;
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
  recurrent: Pick<RecurrentPlan, "plan" | "registry">,
  first: number,
  points: readonly ExactPoint[],
): number[] {
  return exactRowsWith(recurrent, first, (below, task) => {
    return points.find(({ row, exact }) => row >= below && isExact(task, exact))?.row ?? NEVER;
  });
}

/**
 * The same for a program that goes on from a number of kept rows after a long history, where points lie worst.
 *
 * @param openCount how many of the kept rows may still be run again
 * @returns `openRow`: the first of them, or the next row
 */
export function exactRowsAfter(
  recurrent: Pick<RecurrentPlan, "plan" | "registry">,
  { rows, pointRows }: RowRetention,
  openCount: number,
): { readonly taskRows: number[]; readonly openRow: number } {
  const first = 1;
  const nextRow = first + rows;
  const openRow = nextRow - Math.min(rows, openCount);
  const taskRows = exactRowsWith(recurrent, first, (below) => {
    if (below > openRow) return below > nextRow ? NEVER : nextRow;
    return Math.min(below + pointRows - 1, openRow);
  });
  return { taskRows, openRow };
}

/** @param pointFrom the first point from a row on that has the carried values of a task */
function exactRowsWith(
  { plan, registry }: Pick<RecurrentPlan, "plan" | "registry">,
  first: number,
  pointFrom: (row: number, task: PlanTask) => number,
): number[] {
  const inputRow = first === 0 ? ALWAYS : first;
  const rows: number[] = [];
  for (const task of plan.tasks) {
    const operator = registry.kernel(task.operator);
    const below = maxOfInputs(rows, task, inputRow);
    if (operator.axis !== "recursive") rows.push(below + lookbackOf(operator, task));
    else rows.push(below === ALWAYS ? ALWAYS : pointFrom(below, task));
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

export function historyNeedOf({ tasks, outputs }: Pick<Dag, "tasks" | "outputs">): HistoryNeed {
  const rows: number[] = [];
  const recursions: number[] = [];
  for (const task of tasks) {
    const mostOf = (values: readonly number[]) =>
      maxOf(
        inputsOf(task).map((input) => values[input]!),
        0,
      );
    const isRecursive = task.kind === "call" && task.operator.axis === "recursive";
    rows.push(mostOf(rows) + (task.kind === "call" && !isRecursive ? lookbackOf(task.operator, task) : 0));
    recursions.push(mostOf(recursions) + (isRecursive ? 1 : 0));
  }
  const recursive = tasks.filter((task) => task.kind === "call" && task.operator.axis === "recursive").length;
  const fields = tasks.filter(({ kind }) => kind === "field").length;
  const furthest = outputs.reduce<(typeof outputs)[number] | undefined>(
    (most, one) => (most && rows[most.task]! >= rows[one.task]! ? most : one),
    undefined,
  );
  return {
    lookbackRows: maxOf(rows, 0),
    recursions: maxOf(recursions, 0),
    recursive,
    fields,
    furthest: furthest?.name ?? "",
  };
}

/**
 * Rows of input that are kept for a program: what windows look back, and for each recursive operator on a path the rows
 * until the next point, from which it goes on. Points are so far apart that rows and points together are smallest.
 *
 * @param wanted the option `retainRows`
 */
export function retentionFor(
  { lookbackRows, recursions, recursive, fields }: Omit<HistoryNeed, "furthest">,
  wanted?: number,
): RowRetention {
  if (recursions === 0) {
    const rows = wanted ?? Math.max(ROWS_MIN, lookbackRows + 1);
    return { rows, pointRows: Number.POSITIVE_INFINITY };
  }
  // Of (L + depth s) rows and (L / s + depth) points.
  const best = Math.ceil(Math.sqrt((lookbackRows * recursive) / (recursions * Math.max(1, fields))));
  const pointRows = Math.max(POINT_ROWS_MIN, best);
  const rows = wanted ?? Math.max(ROWS_MIN, lookbackRows + recursions * pointRows + 1);
  const parts = Math.max(PARTS_MIN, recursions + 1);
  return { rows, pointRows: Math.max(1, Math.min(pointRows, Math.floor(rows / parts))) };
}

/**
 * Carried values before a row as a point.
 *
 * @param taskRows from which row on each task of the plan is exact: see `exactRows`
 */
export function pointOf(
  { tasks }: Plan,
  taskRows: readonly number[],
  row: number,
  values: RecurrenceValues,
): RecurrencePoint {
  const known = tasks.filter((_, task) => taskRows[task]! <= row);
  const exact = new Set(known.flatMap(({ fingerprints }) => fingerprints));
  return { row, values, exact: exact.intersection(new Set(values.keys())) };
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
function lookbackOf(operator: KernelOperator, { settings }: Pick<PlanTask, "settings">): number {
  return windowRowsOf(operator, settings) - 1;
}
