import { type CallTask, inputsOf, type Task } from "../dag/dag.ts";
import { type RecursiveDefinition, windowRowsOf } from "../operator/definition.ts";
import { NULL_CAUSES, type NullCause } from "../operator/null_causes.ts";
import {
  type Blame,
  because,
  blameOfCell,
  blameOfInput,
  blameOfRecursion,
  blameOfWindow,
  type InputBlame,
  isBad,
  isInfinite,
  keepsNulls,
  type Place,
} from "./blame.ts";
import { RowBlame, type TracedBlock, valuesOf } from "./row_blame.ts";
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
  values: Float64Array;
  readonly origins: Int32Array;
}

/** Says why cells of one task have no finite value. Blocks and their rows come in order, after those of the inputs. */
interface Judge {
  blame(value: number, at: Place): Blame;
  /** The origin of an input's cell in a row before. */
  earlier?(blame: InputBlame, at: Place): number;
  /** Takes a cell, with a value or without one, after it was judged. */
  take?(at: Place): void;
}

/** What the pass goes over, and what it keeps. */
export interface PassSize {
  /** Lanes of a block. */
  readonly laneCount: number;
  /** Rows of a block at most. */
  readonly blockRows: number;
  /** The only lane whose origins are wanted: all of its values and blames are kept. Null: all lanes. */
  readonly lane: number | null;
  /** Rows of all blocks. */
  readonly rowCount: number;
}

/**
 * The first cause of every null and infinity of every sub-expression.
 *
 * Algorithm: one pass forward in time, inputs before what reads them. Each cell without a finite value is judged once
 * (`blame.ts`); one that is null for an input takes the input's origin, so that no chain is ever walked back. Windows read the
 * last rows of their inputs, recursions carry the origin of their newest null.
 */
export class NullOrigins {
  readonly #tasks: readonly Task[];
  readonly #lane: number | null;
  readonly #laneCount: number;
  readonly #cells: readonly Cells[];
  readonly #histories: readonly (TaskHistory | null)[];
  readonly #judges: readonly Judge[];
  /** Of a lane that is wanted alone, by task and row. */
  readonly #blames: readonly Blame[][];
  readonly #isPresent: boolean[] = [];
  /** Rows at which history begins again. */
  readonly #restartRows: readonly number[];
  #block!: TracedBlock;
  #rowCount = 0;

  /** Bytes that it allocates. */
  static bytesOf(tasks: readonly Task[], size: PassSize): number {
    const laneCount = size.lane === null ? size.laneCount : 1;
    const [valueBytes, codeBytes] = [Float64Array.BYTES_PER_ELEMENT, Int32Array.BYTES_PER_ELEMENT];
    const owned = tasks.filter(({ kind }) => size.lane !== null || kind === "number").length;
    const blockBytes = size.blockRows * (tasks.length * codeBytes + owned * valueBytes);
    const keptRows = historyRows(tasks, size).reduce((sum, rows) => sum + rows, 0);
    return laneCount * (blockBytes + keptRows * (valueBytes + codeBytes));
  }

  constructor(tasks: readonly Task[], size: PassSize, restartRows: readonly number[]) {
    this.#tasks = tasks;
    this.#restartRows = restartRows;
    this.#lane = size.lane;
    this.#laneCount = size.lane === null ? size.laneCount : 1;
    const cellCount = size.blockRows * this.#laneCount;
    this.#cells = tasks.map((task) => ({
      values: task.kind === "number" ? new Float64Array(cellCount).fill(task.value) : new Float64Array(0),
      origins: new Int32Array(cellCount),
    }));
    this.#histories = historyRows(tasks, size).map((rows) =>
      rows > 0 ? new TaskHistory(rows, this.#laneCount) : null,
    );
    this.#judges = tasks.map((task, id) => this.#judgeOf(task, id));
    this.#blames = tasks.map(() => []);
  }

  /** Takes the next rows; `of` then has theirs. */
  take(block: TracedBlock): void {
    const { rowCount } = block.results;
    this.#block = block;
    for (let blockRow = 0; this.#lane !== null && blockRow < rowCount; blockRow++)
      this.#isPresent.push(this.#hasRow({ blockRow, lane: 0 }));
    for (const [id, judge] of this.#judges.entries()) {
      const own = this.#cells[id]!;
      const values = valuesOf(block, id);
      if (values !== null) own.values = this.#ofLane(values, block);
      this.#judge(id, judge, rowCount);
      this.#histories[id]?.take(own.values, own.origins, rowCount);
    }
    this.#rowCount += rowCount;
  }

  /** The cells of a task in the block that was taken last. */
  of(task: number): Readonly<Cells> {
    return this.#cells[task]!;
  }

  /** Whether the lane that is wanted alone has a row. */
  isPresent(row: number): boolean {
    return this.#isPresent[row]!;
  }

  /** The value of a task in a row of that lane; NaN for null. */
  value(task: number, row: number): number {
    return this.#histories[task]!.value(row, 0);
  }

  /** The values of its last rows up to one; fewer where history begins later. */
  window(task: number, row: number, rows: number): Float64Array {
    return this.#histories[task]!.window(row, 0, Math.min(rows, row - this.#startOf(row) + 1));
  }

  /** Why it has no finite value there. */
  blame(task: number, row: number): Blame {
    return this.#blames[task]![row]!;
  }

  /** The first row that counts for a row. */
  #startOf(row: number): number {
    return this.#restartRows.findLast((restart) => restart <= row) ?? 0;
  }

  /** The values of the lane that is wanted alone, of a column of all lanes. */
  #ofLane(values: Float64Array, { laneCount, results }: TracedBlock): Float64Array {
    const lane = this.#lane;
    if (lane === null || laneCount === 1) return values;
    return Float64Array.from({ length: results.rowCount }, (_, row) => values[row * laneCount + lane]!);
  }

  #judge(id: number, judge: Judge, rowCount: number): void {
    const inputs = this.#inputs(id);
    const { values, origins } = this.#cells[id]!;
    const takesAll = judge.take !== undefined;
    for (let blockRow = 0, cell = 0; blockRow < rowCount; blockRow++) {
      const row = this.#rowCount + blockRow;
      const start = this.#startOf(row);
      for (let lane = 0; lane < this.#laneCount; lane++, cell++) {
        const value = values[cell]!;
        if (!isBad(value) && !takesAll) continue;
        const at = { cell, lane, blockRow, row, start };
        if (isBad(value)) {
          const blame = judge.blame(value, at);
          if (this.#lane !== null) this.#blames[id]![row] = blame;
          if (blame.kind === "cause") origins[cell] = codeOf(id, blame.cause);
          else if (blame.rowsAgo > 0) origins[cell] = judge.earlier!(blame, at);
          else origins[cell] = inputs[blame.input]!.origins[cell]!;
        }
        judge.take?.(at);
      }
    }
  }

  #inputs(id: number): readonly Cells[] {
    return inputsOf(this.#tasks[id]!).map((input) => this.#cells[input]!);
  }

  #judgeOf(task: Task, id: number): Judge {
    if (task.kind === "field")
      return {
        blame: (value, at) =>
          because(isInfinite(value) ? "infinite_value" : this.#hasRow(at) ? "missing_value" : "absent"),
      };
    if (task.kind !== "call")
      return { blame: (value) => because(isInfinite(value) ? "overflow" : "null_written") };
    const { operator } = task;
    const inputs = this.#inputs(id);
    switch (operator.axis) {
      case "elementwise":
        return { blame: (value, at) => blameOfCell(operator, cellsOf(inputs, at), value) };
      case "rolling":
        return windowJudge(
          task,
          task.inputs.map((input) => this.#histories[input]!),
        );
      case "recursive":
        return recursionJudge(task, operator, inputs);
      default: {
        const row = new RowBlame(task, this.#tasks, this.#lane ?? 0);
        return { blame: (value, at) => row.blame(this.#block, cellsOf(inputs, at), value, at) };
      }
    }
  }

  #hasRow({ blockRow, lane }: Pick<Place, "blockRow" | "lane">): boolean {
    const { results, laneCount } = this.#block;
    return results.present[blockRow * laneCount + (this.#lane ?? 0) + lane] === 1;
  }
}

const cellsOf = (inputs: readonly Cells[], { cell }: Place): number[] =>
  inputs.map(({ values }) => values[cell]!);

/** Rows that are kept of each task: all, or those that windows read before a block and of it; 0 where no window reads it. */
function historyRows(tasks: readonly Task[], { lane, rowCount, blockRows }: PassSize): number[] {
  if (lane !== null) return tasks.map(() => rowCount);
  const rows = new Array<number>(tasks.length).fill(0);
  for (const task of tasks) {
    if (task.kind !== "call" || task.operator.axis !== "rolling") continue;
    const windowRows = windowRowsOf(task.operator, task.settings);
    for (const input of task.inputs) rows[input] = Math.max(rows[input]!, windowRows + blockRows);
  }
  return rows;
}

function windowJudge(task: CallTask, histories: readonly TaskHistory[]): Judge {
  const windowRows = windowRowsOf(task.operator, task.settings);
  const isNullForNulls = !keepsNulls(task) && task.minPeriods === null;
  return {
    blame(value, { row, start, lane }) {
      const rows = Math.min(windowRows, row - start + 1);
      // Any null of the window makes the cell null: the newest one is to blame.
      for (let rowsAgo = 0; isNullForNulls && rows === windowRows && rowsAgo < rows; rowsAgo++) {
        const input = histories.findIndex((of) => Number.isNaN(of.value(row - rowsAgo, lane)));
        if (input >= 0) return blameOfInput(input, rowsAgo, "null_in_window");
      }
      const windows = histories.map((history) => history.window(row, lane, rows));
      return blameOfWindow(task, windows, value);
    },
    earlier: ({ input, rowsAgo }, { row, lane }) => histories[input]!.origin(row - rowsAgo, lane),
  };
}

/** What a lane of a recursive operator has come to since its history began. */
interface LaneState {
  readonly start: number;
  readonly state: Float64Array;
  /** The newest null, and the newest infinity, of an input. */
  readonly newest: Partial<
    Record<string, { readonly row: number; readonly input: number; readonly origin: number }>
  >;
}

/** The reference of a recursive operator runs along, since causes depend on its state. */
function recursionJudge(
  { settings }: CallTask,
  operator: RecursiveDefinition,
  inputs: readonly Cells[],
): Judge {
  const lanes: LaneState[] = [];
  const laneAt = ({ lane, start }: Place): LaneState => {
    const known = lanes[lane];
    if (known?.start === start) return known;
    const state = Float64Array.from(operator.initialState(settings));
    lanes[lane] = { start, state, newest: {} };
    return lanes[lane];
  };
  return {
    blame(value, at) {
      const { state, newest } = laneAt(at);
      return blameOfRecursion(operator, settings, cellsOf(inputs, at), value, {
        state,
        newest: (cause) => {
          const found = newest[cause];
          return found ? blameOfInput(found.input, at.row - found.row, cause) : null;
        },
      });
    },
    earlier: ({ cause }, at) => laneAt(at).newest[cause]!.origin,
    take(at) {
      const cells = cellsOf(inputs, at);
      const { state, newest } = laneAt(at);
      // Of a row the first null, and the first infinity, counts.
      for (let input = cells.length - 1; input >= 0; input--) {
        const value = cells[input]!;
        if (!isBad(value)) continue;
        const cause: InputBlame["cause"] = Number.isNaN(value) ? "null_in_window" : "infinite_input";
        newest[cause] = { row: at.row, input, origin: inputs[input]!.origins[at.cell]! };
      }
      operator.reference(cells, settings, state);
    },
  };
}
