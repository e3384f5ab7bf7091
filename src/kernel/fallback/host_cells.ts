import {
  type ElementwiseDefinition,
  type RecursiveDefinition,
  type RollingDefinition,
  referenceCell,
  type WindowRows,
} from "../../operator/definition.ts";
import type { Registry } from "../../operator/registry.ts";
import type { Operand, Plan, PlanTask } from "../../plan/plan.ts";
import type { Arena } from "../memory/arena.ts";
import { GROUP_LANES } from "../memory/state_layout.ts";
import { STEP_LANES, VALUE_BYTES } from "../memory/vectors.ts";
import { DecidedWindows, REMEMBERED_VALUES_MAX } from "./decided_windows.ts";

/** For references that do not read the rows of their window. */
const NO_ROWS: WindowRows = { positions: new Float64Array(0), last: 0 };

/**
 * Evaluates single cells of lane-wise tasks by their operators' references. Compiled code calls it for operators
 * without code, and for values whose last bit it cannot determine.
 */
export class HostCells {
  readonly #openTask: (task: number) => CellTask;
  /** By task number, each created on first use: most tasks never need one. */
  readonly #tasks: (CellTask | undefined)[];
  readonly #decided = new DecidedWindows();

  constructor(plan: Plan, registry: Registry, arena: Arena, scratch: number) {
    this.#tasks = new Array(plan.tasks.length);
    this.#openTask = (id) => {
      const task = plan.tasks[id]!;
      const operator = registry.kernel(task.operator);
      if (operator.axis === "rolling") return new RollingCell(operator, task, plan, arena);
      if (operator.axis === "recursive") return recursiveCell(operator, task, arena, scratch);
      return elementwiseCell(operator as ElementwiseDefinition, task, arena, scratch);
    };
  }

  /**
   * The value of one cell. Arguments of elementwise and recursive tasks are in the scratch space, for all lanes of a
   * turn.
   *
   * @param from, to addresses of the lane's state before and after this row
   */
  evaluate(task: number, row: number, lane: number, from: number, to: number): number {
    const value = this.#cellTask(task).evaluate(row, lane, from, to);
    return Number.isNaN(value) ? Number.NaN : value;
  }

  /**
   * The value of a rolling cell that compiled code left open. Results of short full windows are cached: the windows
   * that are left open again and again hold ranks among a handful of rows, of which few are different.
   */
  evaluateOpen(task: number, row: number, lane: number): number {
    const window = (this.#cellTask(task) as RollingCell).bitsOf(row, lane);
    if (window === null) return this.evaluate(task, row, lane, 0, 0);
    const known = this.#decided.recall(task, window);
    if (known !== undefined) return known;
    const value = this.evaluate(task, row, lane, 0, 0);
    this.#decided.remember(task, window, value);
    return value;
  }

  #cellTask(task: number): CellTask {
    this.#tasks[task] ??= this.#openTask(task);
    return this.#tasks[task];
  }
}

interface CellTask {
  evaluate(row: number, lane: number, from: number, to: number): number;
}

function elementwiseCell(
  operator: ElementwiseDefinition,
  task: PlanTask,
  arena: Arena,
  scratch: number,
): CellTask {
  const cells = task.operands.map(() => Number.NaN);
  return {
    evaluate(_row, lane) {
      readScratch(cells, arena, scratch, lane);
      return referenceCell(operator, cells);
    },
  };
}

function recursiveCell(
  operator: RecursiveDefinition,
  { operands, settings }: PlanTask,
  arena: Arena,
  scratch: number,
): CellTask {
  const { values } = arena;
  const cells = operands.map(() => Number.NaN);
  const state = Float64Array.from(operator.initialState(settings));
  return {
    evaluate(_row, lane, from, to) {
      readScratch(cells, arena, scratch, lane);
      const fromStart = from / VALUE_BYTES;
      const toStart = to / VALUE_BYTES;
      for (let i = 0; i < state.length; i++) state[i] = values[fromStart + i * GROUP_LANES]!;
      const value = operator.reference(cells, settings, state);
      for (let i = 0; i < state.length; i++) values[toStart + i * GROUP_LANES] = state[i]!;
      return value;
    },
  };
}

/** Reads a lane's arguments; the first slot of the scratch space is for results. */
function readScratch(cells: number[], { values }: Arena, scratch: number, lane: number): void {
  const start = scratch / VALUE_BYTES + STEP_LANES + (lane % STEP_LANES);
  for (let i = 0; i < cells.length; i++) cells[i] = values[start + STEP_LANES * i]!;
}

/**
 * One rule covers every kind of window: rows that do not count (null in any argument, unless the operator sees nulls)
 * are left out, and a cell has a value if at least `rowsNeeded` rows of its window remain. Without `min_periods` all
 * rows are needed, so a null or a window that starts before the panel gives null.
 */
class RollingCell implements CellTask {
  readonly #operator: RollingDefinition;
  readonly #task: PlanTask;
  readonly #columns: readonly number[];
  readonly #windowRows: number;
  readonly #rowsNeeded: number;
  readonly #keepsNulls: boolean;
  readonly #windows: readonly Float64Array[];
  /** All bits of the windows. */
  readonly #bits: Int32Array;
  readonly #positions: Float64Array;
  readonly #arena: Arena;

  constructor(operator: RollingDefinition, task: PlanTask, plan: Plan, arena: Arena) {
    this.#operator = operator;
    this.#task = task;
    this.#columns = task.operands.map((operand) => operandColumn(plan, operand));
    this.#windowRows = operator.windowRows(task.settings);
    this.#rowsNeeded = task.minPeriods ?? this.#windowRows;
    this.#keepsNulls = operator.seesNulls === true && task.minPeriods === null;
    const rows = this.#windowRows;
    const values = new Float64Array(this.#columns.length * rows);
    this.#windows = this.#columns.map((_, i) => values.subarray(i * rows, (i + 1) * rows));
    this.#bits = new Int32Array(values.buffer);
    this.#positions = new Float64Array(operator.reference.length > 2 ? this.#windowRows : 0);
    this.#arena = arena;
  }

  evaluate(row: number, lane: number): number {
    return this.#evaluate(row, this.#read(row, lane));
  }

  /** All bits of the window, valid until the next read; null if it is not full or too long. */
  bitsOf(row: number, lane: number): Int32Array | null {
    const isShort = this.#columns.length * this.#windowRows <= REMEMBERED_VALUES_MAX;
    return isShort && this.#read(row, lane) === this.#windowRows ? this.#bits : null;
  }

  /** Reads the window; returns the number of rows that count. */
  #read(row: number, lane: number): number {
    const firstRow = Math.max(0, row - this.#windowRows + 1);
    let kept = 0;
    for (let r = firstRow; r <= row; r++) {
      let isNull = false;
      for (let k = 0; k < this.#columns.length; k++) {
        const value = this.#arena.cell(this.#columns[k]!, r, lane);
        isNull ||= Number.isNaN(value);
        this.#windows[k]![kept] = value;
      }
      if (this.#positions.length > 0) this.#positions[kept] = r - firstRow;
      if (this.#keepsNulls || !isNull) kept++;
    }
    return kept;
  }

  #evaluate(row: number, kept: number): number {
    if (kept < this.#rowsNeeded) return Number.NaN;
    const isFull = kept === this.#windowRows;
    const windows = isFull ? this.#windows : this.#windows.map((window) => window.subarray(0, kept));
    const rows =
      this.#positions.length > 0
        ? { positions: this.#positions.subarray(0, kept), last: Math.min(row, this.#windowRows - 1) }
        : NO_ROWS;
    return this.#operator.reference(windows, this.#task.settings, rows);
  }
}

/** The column of an argument. */
export function operandColumn(plan: Plan, operand: Operand): number {
  if (operand.kind === "column") return operand.column;
  return operand.kind === "task" ? (plan.tasks[operand.task]!.column as number) : -1;
}
