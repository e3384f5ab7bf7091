import { type CallTask, inputsOf, type Task } from "../dag/dag.ts";
import { windowRowsOf } from "../operator/definition.ts";
import { NULL_CAUSES, type NullCause } from "../operator/null_causes.ts";
import { blameOfCell, blameOfRecursion, blameOfWindow, type InputBlame, isBad, keepsNulls } from "./blame.ts";
import { RowCauses, type TracedBlock, valuesOf } from "./row_cause.ts";
import { TaskHistory } from "./task_history.ts";

/** The first cause of a null, and the task that has it. */
export interface Origin {
  readonly task: number;
  readonly cause: NullCause;
}

const CAUSES = Object.keys(NULL_CAUSES) as NullCause[];
const CAUSE_INDEX = new Map(CAUSES.map((cause, index) => [cause, index]));

/** An origin as a number: cells are too many for objects. */
export const codeOf = (task: number, cause: NullCause): number =>
  task * CAUSES.length + CAUSE_INDEX.get(cause)!;

export const originOf = (code: number): Origin => ({
  task: Math.floor(code / CAUSES.length),
  cause: CAUSES[code % CAUSES.length]!,
});

/** A task's cells in a block `[rows x lanes]`: its values, and where they are null or infinite the codes of origins. */
interface Cells {
  readonly values: Float64Array;
  readonly origins: Int32Array;
}

/** A block, and what the tasks before one have in it. */
interface BlockCells {
  readonly block: TracedBlock;
  /** The row of the panel that is the block's first. */
  readonly firstRow: number;
  readonly cells: readonly Cells[];
}

/** Finds the origins of a task's nulls and infinities in the blocks of a panel, which come in order. */
interface OriginFinder {
  find(own: Cells, block: BlockCells): void;
}

/**
 * The first cause of every null and infinity of every sub-expression.
 *
 * Algorithm: one pass forward in time, inputs before what reads them. A cell that is null for an input takes the input's
 * origin, so that no chain is ever walked back; windows read the last rows of their inputs, recursions carry the origin of
 * their newest null. The rules are those of `blame.ts`.
 */
export class NullOrigins {
  readonly #laneCount: number;
  readonly #tasks: readonly Task[];
  #finders: readonly OriginFinder[] = [];
  readonly #histories: readonly (TaskHistory | null)[];
  readonly #cells: { values: Float64Array; readonly origins: Int32Array }[];
  #firstRow = 0;

  /** Bytes that it allocates. */
  static bytesOf(tasks: readonly Task[], laneCount: number, blockRows: number): number {
    const numberCount = tasks.filter(({ kind }) => kind === "number").length;
    const cellBytes =
      tasks.length * Int32Array.BYTES_PER_ELEMENT + numberCount * Float64Array.BYTES_PER_ELEMENT;
    const keptRows = historyRows(tasks).map((rows) => (rows > 0 ? rows + blockRows : 0));
    const historyBytes = keptRows.reduce((sum, rows) => sum + TaskHistory.bytesOf(rows, laneCount), 0);
    return cellBytes * blockRows * laneCount + historyBytes;
  }

  constructor(tasks: readonly Task[], laneCount: number, blockRows: number) {
    this.#laneCount = laneCount;
    this.#cells = tasks.map((task, id) => {
      const isNumber = task.kind === "number";
      const origins = new Int32Array(blockRows * laneCount);
      if (isNumber) origins.fill(codeOf(id, Number.isNaN(task.value) ? "null_written" : "overflow"));
      return {
        values: new Float64Array(isNumber ? origins.length : 0).fill(isNumber ? task.value : 0),
        origins,
      };
    });
    this.#histories = historyRows(tasks).map((rows) =>
      rows > 0 ? new TaskHistory(rows + blockRows, laneCount) : null,
    );
    this.#tasks = tasks;
    this.restart();
  }

  /** The next row is the first: what windows and recursions know of earlier ones is forgotten. */
  restart(): void {
    this.#firstRow = 0;
    for (const history of this.#histories) history?.restart();
    this.#finders = this.#tasks.map((task, id) => this.#finderOf(task, id));
  }

  /** Takes the next rows; `of` then has theirs. */
  take(block: TracedBlock): void {
    const current = { block, firstRow: this.#firstRow, cells: this.#cells };
    for (const [id, finder] of this.#finders.entries()) {
      const own = this.#cells[id]!;
      own.values = valuesOf(block, id) ?? own.values;
      finder.find(own, current);
      this.#histories[id]?.take(own.values, own.origins, block.results.rowCount);
    }
    this.#firstRow += block.results.rowCount;
  }

  /** The cells of a task in the block that was taken last. */
  of(task: number): Cells {
    return this.#cells[task]!;
  }

  #finderOf(task: Task, id: number): OriginFinder {
    if (task.kind === "number") return { find() {} };
    if (task.kind === "field") return { find: (own, block) => findInField(id, own, block) };
    if (task.kind === "param")
      return { find: (own, block) => eachBad(own, block, (value) => codeOf(id, ownCause(value))) };
    switch (task.operator.axis) {
      case "elementwise":
        return { find: (own, block) => findInCells(task, id, own, block) };
      case "rolling":
        return new WindowOrigins(
          task,
          id,
          task.inputs.map((input) => this.#histories[input]!),
          this.#laneCount,
        );
      case "recursive":
        return new RecursionOrigins(task, id, this.#laneCount);
      default:
        return { find: (own, block) => findInRows(task, id, own, block) };
    }
  }
}

/** Rows before a block that windows read of each task; 0 for tasks that no window reads. */
function historyRows(tasks: readonly Task[]): number[] {
  const rows = new Array<number>(tasks.length).fill(0);
  for (const task of tasks) {
    if (task.kind !== "call" || task.operator.axis !== "rolling") continue;
    const windowRows = windowRowsOf(task.operator, task.settings);
    for (const input of task.inputs) rows[input] = Math.max(rows[input]!, windowRows);
  }
  return rows;
}

const ownCause = (value: number): NullCause => (Number.isNaN(value) ? "null_written" : "overflow");

/** Calls `find` for each cell that is null or infinite and keeps the code that it returns. */
function eachBad(
  { values, origins }: Cells,
  { block }: Pick<BlockCells, "block">,
  find: (value: number, cell: number) => number,
): void {
  const count = block.results.rowCount * block.laneCount;
  for (let cell = 0; cell < count; cell++) {
    const value = values[cell]!;
    if (isBad(value)) origins[cell] = find(value, cell);
  }
}

function findInField(id: number, own: Cells, current: BlockCells): void {
  const { present } = current.block.results;
  const codes = [codeOf(id, "absent"), codeOf(id, "missing_value"), codeOf(id, "infinite_value")] as const;
  eachBad(own, current, (value, cell) =>
    Number.isNaN(value) ? codes[present[cell] === 0 ? 0 : 1] : codes[2],
  );
}

/** The first input that is null in a cell; -1 if none is. */
function nullInput(inputs: readonly Cells[], cell: number): number {
  for (let i = 0; i < inputs.length; i++) if (Number.isNaN(inputs[i]!.values[cell]!)) return i;
  return -1;
}

/** The first input that is infinite in a cell without a null; -1 if none is. */
const infiniteInput = (inputs: readonly Cells[], cell: number): number =>
  inputs.findIndex(({ values }) => isBad(values[cell]!));

const inputCells = (task: CallTask, { cells }: BlockCells): readonly Cells[] =>
  inputsOf(task).map((input) => cells[input]!);

function findInCells(task: CallTask, id: number, own: Cells, current: BlockCells): void {
  const { operator } = task;
  if (operator.axis !== "elementwise") throw new TypeError(`${operator.name} is not elementwise`);
  const inputs = inputCells(task, current);
  eachBad(own, current, (value, cell) => {
    // Any null makes the cell null: the first one is to blame.
    const first = Number.isNaN(value) && !operator.seesNulls ? nullInput(inputs, cell) : -1;
    if (first >= 0) return inputs[first]!.origins[cell]!;
    const blame = blameOfCell(
      operator,
      inputs.map(({ values }) => values[cell]!),
    );
    return blame.kind === "input" ? inputs[blame.input]!.origins[cell]! : codeOf(id, blame.cause);
  });
}

function findInRows(task: CallTask, id: number, own: Cells, current: BlockCells): void {
  const { block } = current;
  const inputs = inputCells(task, current);
  let [causes, causesRow]: [RowCauses | null, number] = [null, -1];
  eachBad(own, current, (value, cell) => {
    const first = nullInput(inputs, cell);
    if (first >= 0) return inputs[first]!.origins[cell]!;
    const row = Math.floor(cell / block.laneCount);
    if (causes === null || row !== causesRow) {
      causes = new RowCauses(
        task,
        block,
        inputs.map(({ values }) => values),
        row,
      );
      causesRow = row;
    }
    const cause = causes.cause(cell % block.laneCount, value);
    // The infinity of another instrument is no cell of this one.
    const infinite = cause === "infinite_input" ? infiniteInput(inputs, cell) : -1;
    return infinite >= 0 ? inputs[infinite]!.origins[cell]! : codeOf(id, cause);
  });
}

/** Origins of a rolling operator. */
class WindowOrigins implements OriginFinder {
  readonly #task: CallTask;
  readonly #id: number;
  readonly #histories: readonly TaskHistory[];
  readonly #windowRows: number;
  readonly #isNullForNulls: boolean;
  /** By lane the newest row with a null input, and the origin of that null. */
  readonly #nullRows: Int32Array;
  readonly #nullOrigins: Int32Array;

  constructor(task: CallTask, id: number, histories: readonly TaskHistory[], laneCount: number) {
    this.#task = task;
    this.#id = id;
    this.#histories = histories;
    this.#windowRows = windowRowsOf(task.operator, task.settings);
    this.#isNullForNulls = !keepsNulls(task) && task.minPeriods === null;
    this.#nullRows = new Int32Array(laneCount).fill(-1);
    this.#nullOrigins = new Int32Array(laneCount);
  }

  find({ values, origins }: Cells, current: BlockCells): void {
    const { laneCount, results } = current.block;
    const inputs = inputCells(this.#task, current);
    for (let row = 0; row < results.rowCount; row++) {
      for (let lane = 0; lane < laneCount; lane++) {
        const cell = row * laneCount + lane;
        const first = nullInput(inputs, cell);
        if (first >= 0) {
          this.#nullRows[lane] = current.firstRow + row;
          this.#nullOrigins[lane] = inputs[first]!.origins[cell]!;
        }
        if (isBad(values[cell]!)) origins[cell] = this.#origin(current.firstRow + row, lane);
      }
    }
  }

  #origin(row: number, lane: number): number {
    const oldest = row - this.#windowRows + 1;
    // Any null of the window makes the cell null: the newest one is to blame.
    if (this.#isNullForNulls && oldest >= 0 && this.#nullRows[lane]! >= oldest)
      return this.#nullOrigins[lane]!;
    const windows = this.#histories.map((history) => history.window(row, lane, this.#windowRows));
    const blame = blameOfWindow(this.#task, windows);
    if (blame.kind === "cause") return codeOf(this.#id, blame.cause);
    return this.#histories[blame.input]!.origin(row - blame.rowsAgo, lane);
  }
}

/** Origins of a recursive operator: its reference runs along, since causes depend on its state. */
class RecursionOrigins implements OriginFinder {
  readonly #task: CallTask;
  readonly #id: number;
  readonly #states: readonly Float64Array[];
  /** By lane the origin of the newest null, and of the newest infinity, of an input; -1 for none. */
  readonly #newest: { readonly null_in_window: Int32Array; readonly infinite_input: Int32Array };

  constructor(task: CallTask, id: number, laneCount: number) {
    const { operator, settings } = task;
    if (operator.axis !== "recursive") throw new TypeError(`${operator.name} is no recursion`);
    this.#task = task;
    this.#id = id;
    this.#states = Array.from({ length: laneCount }, () =>
      Float64Array.from(operator.initialState(settings)),
    );
    const none = () => new Int32Array(laneCount).fill(-1);
    this.#newest = { null_in_window: none(), infinite_input: none() };
  }

  find({ values, origins }: Cells, current: BlockCells): void {
    const { operator, settings } = this.#task;
    if (operator.axis !== "recursive") return;
    const { laneCount, results } = current.block;
    const inputs = inputCells(this.#task, current);
    for (let cell = 0; cell < results.rowCount * laneCount; cell++) {
      const lane = cell % laneCount;
      const cells = inputs.map((input) => input.values[cell]!);
      if (isBad(values[cell]!)) origins[cell] = this.#origin(lane, cell, cells, inputs);
      // The first input that is bad in a row counts, as in a chain of reasons.
      for (let i = cells.length - 1; i >= 0; i--) {
        const value = cells[i]!;
        if (!isBad(value)) continue;
        const kind = Number.isNaN(value) ? "null_in_window" : "infinite_input";
        this.#newest[kind][lane] = inputs[i]!.origins[cell]!;
      }
      operator.reference(cells, settings, this.#states[lane]!);
    }
  }

  #origin(lane: number, cell: number, cells: readonly number[], inputs: readonly Cells[]): number {
    const { operator, settings } = this.#task;
    if (operator.axis !== "recursive") return codeOf(this.#id, "undeclared");
    const newest = (cause: "null_in_window" | "infinite_input"): InputBlame | null =>
      this.#newest[cause][lane]! < 0 ? null : { kind: "input", input: 0, rowsAgo: 1, cause };
    const blame = blameOfRecursion(operator, settings, cells, { state: this.#states[lane]!, newest });
    if (blame.kind === "cause") return codeOf(this.#id, blame.cause);
    if (blame.rowsAgo === 0) return inputs[blame.input]!.origins[cell]!;
    return this.#newest[blame.cause as "null_in_window" | "infinite_input"][lane]!;
  }
}
