import {
  type ElementwiseDefinition,
  type KernelOperator,
  type RecursiveDefinition,
  type RollingDefinition,
  referenceCell,
  type Settings,
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
  readonly cause: "null_input" | "null_in_window" | "infinite_input";
}

export interface CauseBlame {
  readonly kind: "cause";
  readonly cause: NullCause;
}

const because = (cause: NullCause): CauseBlame => ({ kind: "cause", cause });

/** Stand-ins for a missing value: a result that has a value with one of them was null for want of it. */
const STAND_INS = [1, 0];
/** Rows of a window that are tried, one after the other. */
const TRIED_CELLS_MAX = 64;

/** True for nulls and infinities: what results do not hold. */
export const isBad = (value: number): boolean => value - value !== 0;

/** The first declared cause whose predicate holds. */
export function declaredCause(operator: KernelOperator, ...args: readonly unknown[]): NullCause | null {
  for (const [cause, holds] of Object.entries(operator.nullWhere ?? {}))
    if ((holds as (...given: readonly unknown[]) => boolean)(...args)) return cause as NullCause;
  return null;
}

const isInfinite = (value: number): boolean => Math.abs(value) === Number.POSITIVE_INFINITY;

/** The cells of an operator's inputs, one row after the other, today's last. */
type Rows = readonly (readonly number[])[];

/** The blame for a null or an infinity of an elementwise operator, given the values of its inputs. */
export function blameOfCell(operator: ElementwiseDefinition, cells: readonly number[]): Blame {
  const result = referenceCell(operator, cells);
  const input = blamedInput(cells, result, (given) => referenceCell(operator, given));
  return input ?? blameWithoutNull(result, declaredCause(operator, ...cells), [cells]);
}

/** The input of today whose null (or infinity, for an infinite result) makes the result what it is; null if there is none. */
function blamedInput(
  cells: readonly number[],
  result: number,
  recompute: (cells: readonly number[]) => number,
): InputBlame | null {
  const isNull = Number.isNaN(result);
  const candidates = [...cells.keys()].filter((i) => (isNull ? Number.isNaN : isInfinite)(cells[i]!));
  if (candidates.length === 0) return null;
  const input =
    candidates.find((i) => STAND_INS.some((value) => !isBad(recompute(cells.with(i, value))))) ??
    candidates[0]!;
  return { kind: "input", input, rowsAgo: 0, cause: isNull ? "null_input" : "infinite_input" };
}

/**
 * The blame for a result without a null among what counts: an infinity among the inputs, the operator's own cause, or an
 * infinite result of finite inputs.
 */
function blameWithoutNull(result: number, declared: NullCause | null, rows: Rows): Blame {
  const isNull = Number.isNaN(result);
  const follows = !isNull || declared === "infinite_input";
  const infinite = follows ? newestCell(rows, isInfinite, "infinite_input") : null;
  return infinite ?? because(declared ?? (isNull ? "undeclared" : "overflow"));
}

/** The newest cell of a kind; null if there is none. */
export function newestCell(
  rows: Rows,
  isWanted: (value: number) => boolean,
  cause: InputBlame["cause"],
): InputBlame | null {
  for (let row = rows.length - 1; row >= 0; row--) {
    const input = rows[row]!.findIndex(isWanted);
    if (input >= 0) return { kind: "input", input, rowsAgo: rows.length - 1 - row, cause };
  }
  return null;
}

/** A call of an operator: a task of a graph or a node of a tree. */
interface Call {
  readonly operator: KernelOperator;
  readonly settings: Settings;
  readonly minPeriods: number | null;
}

/**
 * The blame for a null or an infinity of a rolling operator. Rows are left out of its windows as its kernel does.
 *
 * @param rows those of the window that exist, oldest first
 */
export function blameOfWindow({ operator, settings, minPeriods }: Call, rows: Rows): Blame {
  const rolling = operator as RollingDefinition;
  const { seesNulls = false } = rolling;
  const needed = minPeriods ?? rolling.windowRows(settings);
  const keepsNulls = seesNulls && minPeriods === null;
  if (rows.length < needed) return because("too_few_rows");
  const kept = [...rows.keys()].filter((row) => keepsNulls || !rows[row]!.some(Number.isNaN));
  if (kept.length < needed) return newestCell(rows, Number.isNaN, "null_in_window")!;
  const windowsOf = (all: Rows) =>
    all[0]!.map((_, input) => Float64Array.from(kept, (row) => all[row]![input]!));
  const at = () => ({ positions: Float64Array.from(kept), last: rows.length - 1 });
  const compute = (all: Rows) => rolling.reference(windowsOf(all), settings, at());
  const result = compute(rows);
  const decisive = keepsNulls ? decisiveCell(rows, result, compute) : null;
  return decisive ?? blameWithoutNull(result, declaredCause(operator, windowsOf(rows), settings, at()), rows);
}

/** The cell of a window without which the result would have a value, for operators that see nulls. */
function decisiveCell(rows: Rows, result: number, compute: (rows: Rows) => number): InputBlame | null {
  const isNull = Number.isNaN(result);
  const counts = isNull ? Number.isNaN : isInfinite;
  const cause = isNull ? "null_in_window" : "infinite_input";
  let tried = 0;
  let first: InputBlame | null = null;
  // The oldest row first, since shifts read that one; then from the newest row back.
  for (const row of [0, ...[...rows.keys()].slice(1).reverse()]) {
    for (const [input, value] of rows[row]!.entries()) {
      if (!counts(value)) continue;
      const blame: InputBlame = { kind: "input", input, rowsAgo: rows.length - 1 - row, cause };
      first ??= blame;
      if (tried++ >= TRIED_CELLS_MAX) return first;
      const changed = (stand: number) => rows.with(row, rows[row]!.with(input, stand));
      if (STAND_INS.some((stand) => !isBad(compute(changed(stand))))) return blame;
    }
  }
  return first;
}

/** What a recursive operator's lane has come to before a row. */
export interface LaneMemory {
  readonly state: Float64Array;
  /** The cells of all rows before it. */
  readonly earlier: Rows;
}

/** The blame for a null or an infinity of a recursive operator, given today's cells and what came before. */
export function blameOfRecursion(
  operator: RecursiveDefinition,
  settings: Settings,
  cells: readonly number[],
  { state, earlier }: LaneMemory,
): Blame {
  const compute = (given: readonly number[]) => operator.reference([...given], settings, state.slice());
  const result = compute(cells);
  const today = blamedInput(cells, result, compute);
  if (today && STAND_INS.some((value) => !isBad(compute(cells.with(today.input, value))))) return today;
  const declared = declaredCause(operator, cells, settings, state.slice());
  if (declared !== null && declared !== "infinite_input") return because(declared);
  if (today) return today;
  const rows = [...earlier, cells];
  if (Number.isNaN(result) && declared === null)
    return newestCell(rows, Number.isNaN, "null_in_window") ?? because("undeclared");
  return newestCell(rows, isInfinite, "infinite_input") ?? because(declared ?? "overflow");
}
