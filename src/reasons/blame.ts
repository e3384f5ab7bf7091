import type { CallTask } from "../dag/dag.ts";
import {
  type ElementwiseDefinition,
  type KernelOperator,
  type RecursiveDefinition,
  type RollingDefinition,
  referenceCell,
  type Settings,
  type WindowRows,
} from "../operator/definition.ts";
import type { NullCause } from "../operator/null_causes.ts";

/** Why a cell has no finite value: an input of it has none, or a cause that the operator or the engine names. */
export type Blame = InputBlame | CauseBlame;

export interface InputBlame {
  readonly kind: "input";
  /** Index among the operator's inputs. */
  readonly input: number;
  /** Rows before the blamed cell's own row: 0 for today. */
  readonly rowsAgo: number;
  readonly cause: "null_input" | "null_in_window" | "null_today" | "infinite_input";
}

export interface CauseBlame {
  readonly kind: "cause";
  readonly cause: NullCause;
}

export const because = (cause: NullCause): CauseBlame => ({ kind: "cause", cause });

export const blameOfInput = (input: number, rowsAgo: number, cause: InputBlame["cause"]): InputBlame => ({
  kind: "input",
  input,
  rowsAgo,
  cause,
});

/** A cell among those that are judged. */
export interface Place {
  /** Index into the columns of its block. */
  readonly cell: number;
  readonly lane: number;
  /** Counted from the first row of its block, and from that of the first block. */
  readonly blockRow: number;
  readonly row: number;
  /** The row before which nothing counts. */
  readonly start: number;
}

/** Stand-ins for a missing value: a result that has a value with one of them was null for want of it. */
const STAND_INS = [1, 0];
/** Rows of a window that are tried, one after the other. */
const TRIED_CELLS_MAX = 64;

/** True for nulls and infinities: what results do not hold. */
export const isBad = (value: number): boolean => value - value !== 0;

/** The first declared cause whose predicate holds. */
export function declaredCause(operator: KernelOperator, ...args: readonly unknown[]): NullCause | null {
  for (const [cause, holds] of Object.entries(operator.nullWhere))
    if ((holds as (...given: readonly unknown[]) => boolean)(...args)) return cause as NullCause;
  return null;
}

export const isInfinite = (value: number): boolean => Math.abs(value) === Number.POSITIVE_INFINITY;

/** The values of an operator's inputs, a column for each `[rows]`, oldest row first, today's last. */
type Columns = readonly Float64Array[];

/** The blame for a null or an infinity of an elementwise operator, given the values of its inputs. */
export function blameOfCell(operator: ElementwiseDefinition, cells: readonly number[], value: number): Blame {
  // Any null makes the cell null: the first one is to blame.
  const first = Number.isNaN(value) && !operator.seesNulls ? cells.findIndex(Number.isNaN) : -1;
  if (first >= 0) return blameOfInput(first, 0, "null_input");
  const input = blamedInput(cells, value, (given) => referenceCell(operator, given));
  return input ?? blameWithoutNull(value, declaredCause(operator, ...cells), columnsOfRow(cells));
}

/** The cells of one row as columns. */
const columnsOfRow = (cells: readonly number[]): Columns => cells.map((value) => Float64Array.of(value));

/** The input of today whose null (or infinity, for an infinite result) makes the result what it is; null if there is none. */
function blamedInput(
  cells: readonly number[],
  result: number,
  recompute: (cells: readonly number[]) => number,
): InputBlame | null {
  const ofColumns = (columns: Columns) => recompute(columns.map(([value]) => value!));
  return decisiveCell(columnsOfRow(cells), result, ofColumns, "null_input");
}

/**
 * The blame for a result without a null among what counts: an infinity among the inputs, the null of today that was left
 * out, the operator's own cause, or an infinite result of finite inputs.
 */
function blameWithoutNull(result: number, declared: NullCause | null, columns: Columns): Blame {
  const isNull = Number.isNaN(result);
  const follows = !isNull || declared === "infinite_input";
  const infinite = follows ? newestCell(columns, "infinite_input") : null;
  // The newest null of the window is that of today.
  const today = declared === "null_today" ? newestCell(columns, declared) : null;
  return infinite ?? today ?? because(declared ?? (isNull ? "undeclared" : "overflow"));
}

/** The newest null, or for `infinite_input` the newest infinity; of one row that of the first input. Null if there is none. */
function newestCell(columns: Columns, cause: InputBlame["cause"]): InputBlame | null {
  const isWanted = cause === "infinite_input" ? isInfinite : Number.isNaN;
  const last = (columns[0]?.length ?? 0) - 1;
  for (let row = last; row >= 0; row--) {
    const input = columns.findIndex((column) => isWanted(column[row]!));
    if (input >= 0) return blameOfInput(input, last - row, cause);
  }
  return null;
}

/** True for calls whose windows hold nulls; those of others are null for them, or leave them out. */
export const keepsNulls = ({ operator, minPeriods }: CallTask): boolean =>
  (operator as RollingDefinition).seesNulls === true && minPeriods === null;

/**
 * The blame for a null or an infinity of a rolling operator. Rows are left out of its windows as its kernel does.
 *
 * @param columns those rows of the window that exist
 */
export function blameOfWindow(call: CallTask, columns: Columns, value: number): Blame {
  const { operator, settings, minPeriods } = call;
  const rolling = operator as RollingDefinition;
  const last = columns[0]!.length - 1;
  const needed = minPeriods ?? rolling.windowRows(settings);
  if (last + 1 < needed) return because("too_few_rows");
  const kept = keepsNulls(call) ? null : rowsWithoutNull(columns);
  if (kept !== null && kept.length < needed) return newestCell(columns, "null_in_window")!;
  const windowsOf = (all: Columns) => all.map((column) => keptOf(column, kept));
  // Few references look at the rows.
  const rows = (): WindowRows => ({ positions: kept ?? Float64Array.from(columns[0]!.keys()), last });
  const compute = (all: Columns) =>
    rolling.reference.length < 3
      ? rolling.reference(windowsOf(all), settings, NO_ROWS)
      : rolling.reference(windowsOf(all), settings, rows());
  const decisive = kept === null ? decisiveCell(columns, value, compute, "null_in_window") : null;
  return (
    decisive ??
    blameWithoutNull(value, declaredCause(operator, windowsOf(columns), settings, rows()), columns)
  );
}

const NO_ROWS: WindowRows = { positions: new Float64Array(0), last: -1 };

function rowsWithoutNull(columns: Columns): Float64Array {
  const length = columns[0]!.length;
  const rows = new Float64Array(length);
  let count = 0;
  for (let row = 0; row < length; row++)
    if (!columns.some((column) => Number.isNaN(column[row]!))) rows[count++] = row;
  return rows.subarray(0, count);
}

/** A copy of the kept rows, null for all: references may sort it. */
function keptOf(column: Float64Array, rows: Float64Array | null): Float64Array {
  if (rows === null || rows.length === column.length) return column.slice();
  return rows.map((row) => column[row]!);
}

/** The null (or infinity) without which the result would have a value, else the first one; null if there is none. */
function decisiveCell(
  columns: Columns,
  result: number,
  compute: (columns: Columns) => number,
  causeOfNull: InputBlame["cause"],
): InputBlame | null {
  const isNull = Number.isNaN(result);
  const counts = isNull ? Number.isNaN : isInfinite;
  const cause = isNull ? causeOfNull : "infinite_input";
  const last = columns[0]!.length - 1;
  let tried = 0;
  let first: InputBlame | null = null;
  // The oldest row first, since shifts read that one; then from the newest row back.
  for (let i = 0; i <= last; i++) {
    const row = i === 0 ? 0 : last - i + 1;
    for (const [input, column] of columns.entries()) {
      const value = column[row]!;
      if (!counts(value)) continue;
      const blame = blameOfInput(input, last - row, cause);
      first ??= blame;
      if (tried++ >= TRIED_CELLS_MAX) return first;
      const isDecided = STAND_INS.some((stand) => {
        column[row] = stand;
        return !isBad(compute(columns));
      });
      column[row] = value;
      if (isDecided) return blame;
    }
  }
  return first;
}

/** What a recursive operator's lane has come to before a row. */
export interface LaneMemory {
  readonly state: Float64Array;
  /** The newest null, or the newest infinity, of the rows before. */
  newest(cause: "null_in_window" | "infinite_input"): InputBlame | null;
}

/** The blame for a null or an infinity of a recursive operator, given today's cells and what came before. */
export function blameOfRecursion(
  operator: RecursiveDefinition,
  settings: Settings,
  cells: readonly number[],
  value: number,
  { state, newest }: LaneMemory,
): Blame {
  const compute = (given: readonly number[]) => operator.reference([...given], settings, state.slice());
  const today = blamedInput(cells, value, compute);
  if (today && STAND_INS.some((stand) => !isBad(compute(cells.with(today.input, stand))))) return today;
  const declared = declaredCause(operator, cells, settings, state.slice());
  if (declared !== null && declared !== "infinite_input") return because(declared);
  if (today) return today;
  if (Number.isNaN(value) && declared === null) return newest("null_in_window") ?? because("undeclared");
  // An infinity that the state has forgotten is not to blame.
  const isKept = Number.isNaN(value) || state.some(isInfinite);
  return (
    newestCell(columnsOfRow(cells), "infinite_input") ??
    (isKept ? newest("infinite_input") : null) ??
    because(declared ?? "overflow")
  );
}
