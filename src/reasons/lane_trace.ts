import { type CallTask, inputsOf, type Task } from "../dag/dag.ts";
import type { RowRange } from "../data/panel/panel_source.ts";
import type { NullCause } from "../operator/null_causes.ts";
import { isBad } from "./blame.ts";
import { RowCauses, readsRow, type TracedBlock, valuesOf } from "./row_cause.ts";

/** The values that the sub-expressions have for one instrument, row by row. */
export class LaneTrace {
  /** The row of the panel that is the first of the trace. */
  readonly firstRow: number;
  readonly times: BigInt64Array;
  /** 1 where the instrument has a row. */
  readonly present: Uint8Array;
  readonly #tasks: readonly Task[];
  readonly #lane: number;
  readonly #columns: readonly (Float64Array | number)[];
  readonly #rowCauses = new Map<string, NullCause>();
  #rowCount = 0;

  /** @param lane number of the instrument among those of the blocks */
  constructor(tasks: readonly Task[], lane: number, { first, end }: RowRange) {
    this.#tasks = tasks;
    this.#lane = lane;
    this.firstRow = first;
    this.times = new BigInt64Array(end - first);
    this.present = new Uint8Array(end - first);
    this.#columns = tasks.map((task) =>
      task.kind === "number" ? task.value : new Float64Array(end - first),
    );
  }

  /** Takes the next rows. */
  take(block: TracedBlock): void {
    const { results, laneCount } = block;
    const start = this.#rowCount;
    this.times.set(results.times, start);
    for (let row = 0; row < results.rowCount; row++)
      this.present[start + row] = results.present[row * laneCount + this.#lane]!;
    for (const [id, task] of this.#tasks.entries()) {
      const values = valuesOf(block, id);
      const column = this.#columns[id]!;
      if (values === null || typeof column === "number") continue;
      for (let row = 0; row < results.rowCount; row++)
        column[start + row] = values[row * laneCount + this.#lane]!;
      if (readsRow(task)) this.#noteCauses(id, task, block, values);
    }
    this.#rowCount += results.rowCount;
  }

  /** The value of a sub-expression in a row of the trace; NaN for null. */
  value(task: number, row: number): number {
    const column = this.#columns[task]!;
    return typeof column === "number" ? column : column[row]!;
  }

  /** The values of the last rows up to one; fewer where the trace starts later. */
  window(task: number, row: number, rows: number): Float64Array {
    const first = Math.max(0, row - rows + 1);
    return Float64Array.from({ length: row - first + 1 }, (_, i) => this.value(task, first + i));
  }

  /** Why an operator across the row has no finite value in a row though no input is null. */
  rowCause(task: number, row: number): NullCause {
    return this.#rowCauses.get(`${task} ${row}`)!;
  }

  #noteCauses(id: number, task: CallTask, block: TracedBlock, values: Float64Array): void {
    const inputs = inputsOf(task).map((input) => valuesOf(block, input) ?? (this.#columns[input] as number));
    for (let row = 0; row < block.results.rowCount; row++) {
      const cell = row * block.laneCount + this.#lane;
      const own = inputs.map((input) => (typeof input === "number" ? input : input[cell]!));
      if (!isBad(values[cell]!) || own.some(Number.isNaN)) continue;
      const cause = new RowCauses(task, block, inputs, row).cause(this.#lane, values[cell]!);
      this.#rowCauses.set(`${id} ${this.#rowCount + row}`, cause);
    }
  }
}
