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

/** The blame for a null or an infinity of an elementwise operator, given the values of its inputs. */
export function blameOfCell(operator: ElementwiseDefinition, cells: readonly number[]): Blame {
  const result = referenceCell(operator, cells);
  const input = blamedInput(cells, result, (given) => referenceCell(operator, given));
  if (input !== null) return input;
  return blameWithoutNull(result, declaredCause(operator, ...cells), () => newestInfinite([cells]));
}

/** The input of today whose null (or infinity, for an infinite result) makes the result what it is; null if there is none. */
export function blamedInput(
  cells: readonly number[],
  result: number,
  recompute: (cells: readonly number[]) => number,
): InputBlame | null {
  const isNull = Number.isNaN(result);
  const candidates = [...cells.keys()].filter((i) =>
    isNull ? Number.isNaN(cells[i]!) : Math.abs(cells[i]!) === Number.POSITIVE_INFINITY,
  );
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
function blameWithoutNull(
  result: number,
  declared: NullCause | null,
  infinite: () => Omit<InputBlame, "kind" | "cause"> | null,
): Blame {
  if (!Number.isNaN(result)) {
    const cell = infinite();
    if (cell) return { kind: "input", ...cell, cause: "infinite_input" };
    return because(declared ?? "overflow");
  }
  if (declared !== "infinite_input") return because(declared ?? "undeclared");
  const cell = infinite();
  return cell ? { kind: "input", ...cell, cause: "infinite_input" } : because(declared);
}

/** The newest infinite cell of rows of cells, the newest row last. */
function newestInfinite(rows: readonly (readonly number[])[]): Omit<InputBlame, "kind" | "cause"> | null {
  for (let row = rows.length - 1; row >= 0; row--) {
    const input = rows[row]!.findIndex((value) => Math.abs(value) === Number.POSITIVE_INFINITY);
    if (input >= 0) return { input, rowsAgo: rows.length - 1 - row };
  }
  return null;
}

/** The rows of a window that exist, oldest first: `columns[input][row]`. */
export interface Window {
  readonly columns: readonly Float64Array[];
}

/** A call of an operator: a task of a graph or a node of a tree. */
interface Call {
  readonly operator: KernelOperator;
  readonly settings: Settings;
  readonly minPeriods: number | null;
}

/** How a rolling call leaves rows out of its windows, as its kernel does. */
function windowRule({ operator, settings, minPeriods }: Call) {
  const { seesNulls = false, windowRows } = operator as RollingDefinition;
  const rows = windowRows(settings);
  return { rows, needed: minPeriods ?? rows, keepsNulls: seesNulls && minPeriods === null };
}

/** The blame for a null or an infinity of a rolling operator, given the window of each input. */
export function blameOfWindow(task: Call, { columns }: Window): Blame {
  const operator = task.operator as RollingDefinition;
  const { rows, needed, keepsNulls } = windowRule(task);
  const existing = columns[0]!.length;
  if (existing < needed) return because("too_few_rows");
  const cellsOf = (row: number) => columns.map((column) => column[row]!);
  const all = Array.from({ length: existing }, (_, row) => cellsOf(row));
  const kept = [...all.keys()].filter((row) => keepsNulls || !all[row]!.some(Number.isNaN));
  if (kept.length < needed) return newestNull(all)!;
  const compute = (given: readonly (readonly number[])[]) => referenceOfWindow(task, given, kept, existing);
  const result = compute(all);
  if (keepsNulls) {
    const decisive = decisiveCell(all, result, compute);
    if (decisive) return decisive;
  }
  const windows = columns.map((column) => Float64Array.from(kept, (row) => column[row]!));
  const declared = declaredCause(operator, windows, task.settings, rowsOf(kept, existing, rows));
  return blameWithoutNull(result, declared, () => newestInfinite(all));
}

function rowsOf(kept: readonly number[], existing: number, rows: number): WindowRows {
  return { positions: Float64Array.from(kept), last: Math.min(existing, rows) - 1 };
}

function referenceOfWindow(
  { operator, settings }: Call,
  all: readonly (readonly number[])[],
  kept: readonly number[],
  existing: number,
): number {
  const rolling = operator as RollingDefinition;
  const inputs = all[0]!.keys();
  const windows = [...inputs].map((input) => Float64Array.from(kept, (row) => all[row]![input]!));
  return rolling.reference(windows, settings, rowsOf(kept, existing, rolling.windowRows(settings)));
}

/** The newest null of a window, oldest row first. */
function newestNull(all: readonly (readonly number[])[]): InputBlame | null {
  for (let row = all.length - 1; row >= 0; row--) {
    const input = all[row]!.findIndex(Number.isNaN);
    if (input >= 0) return { kind: "input", input, rowsAgo: all.length - 1 - row, cause: "null_in_window" };
  }
  return null;
}

/** The newest cell of a window without which the result would have a value, for operators that see nulls. */
function decisiveCell(
  all: readonly (readonly number[])[],
  result: number,
  compute: (all: readonly (readonly number[])[]) => number,
): InputBlame | null {
  const isNull = Number.isNaN(result);
  const counts = (value: number) => (isNull ? Number.isNaN(value) : isBad(value) && !Number.isNaN(value));
  let tried = 0;
  let newest: InputBlame | null = null;
  // The oldest row first: shifts read that one.
  const order = [0, ...[...all.keys()].reverse()];
  for (const row of order) {
    for (const [input, value] of all[row]!.entries()) {
      if (!counts(value)) continue;
      const cause = isNull ? "null_in_window" : "infinite_input";
      const blame: InputBlame = { kind: "input", input, rowsAgo: all.length - 1 - row, cause };
      newest ??= blame;
      if (tried++ >= TRIED_CELLS_MAX) return newest;
      const changed = (stand: number) => all.with(row, all[row]!.with(input, stand));
      if (STAND_INS.some((stand) => !isBad(compute(changed(stand))))) return blame;
    }
  }
  return newest;
}

/** What a recursive operator's lane has come to: its state before a row, and the newest earlier cells that were bad. */
export interface LaneMemory {
  readonly state: Float64Array;
  readonly newestNull: InputBlame | null;
  readonly newestInfinite: InputBlame | null;
}

/** The blame for a null or an infinity of a recursive operator, given today's cells and what came before. */
export function blameOfRecursion(
  operator: RecursiveDefinition,
  settings: Settings,
  cells: readonly number[],
  { state, newestNull: earlierNull, newestInfinite: earlierInfinite }: LaneMemory,
): Blame {
  const compute = (given: readonly number[]) => operator.reference([...given], settings, state.slice());
  const result = compute(cells);
  const today = blamedInput(cells, result, compute);
  if (today && STAND_INS.some((value) => !isBad(compute(cells.with(today.input, value))))) return today;
  const declared = declaredCause(operator, cells, settings, state.slice());
  if (declared !== null && declared !== "infinite_input") return because(declared);
  const isNull = Number.isNaN(result) && declared === null;
  const now = newestInfinite([cells]);
  const infinite: InputBlame | null = now
    ? { kind: "input", ...now, cause: "infinite_input" }
    : earlierInfinite;
  return (
    today ?? (isNull ? earlierNull : infinite) ?? because(declared ?? (isNull ? "undeclared" : "overflow"))
  );
}
