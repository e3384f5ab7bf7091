/** The memory of a block, and the way of rows into it. */
import { machineMemoryBytes } from "../../limits.ts";
import type { GroupColumn } from "../../panel.ts";
import { panelTooLarge } from "../errors.ts";
import type { BlockRequest, PanelBlock } from "./panel_source.ts";

/** Rows of input in columns, as DuckDB gives them a chunk at a time. */
export interface InputRows {
  readonly rowCount: number;
  /** Row and lane of the panel that each row of input belongs to. */
  readonly panelRows: Int32Array;
  readonly lanes: Int32Array;
  /** NaN for null. */
  readonly fields: readonly Float64Array[];
  /** -1 for null. */
  readonly groups: readonly Int32Array[];
}

/** What `fill` met: all rows are in, a row of a later block, a row of an earlier block, a second row for a cell. */
export type FillOutcome = "done" | "later" | "earlier" | "duplicate";

export interface BlockShape {
  readonly laneCount: number;
  readonly fieldCount: number;
  readonly groupCount: number;
}

/** The arrays of one block, `[rows x lanes]`; used for one block after the other. */
export class BlockCells {
  readonly fields: readonly Float64Array<SharedArrayBuffer>[];
  readonly groups: readonly Int32Array<SharedArrayBuffer>[];
  readonly present: Uint8Array<SharedArrayBuffer>;
  /** Panel rows of the block. */
  firstRow = 0;
  endRow = 0;
  /** Rows that the last `fill` took. */
  filledRows = 0;
  #presentCount = 0;
  readonly #laneCount: number;
  /** As doubles, because a whole panel may have more than 2 ** 32 cells. */
  #cells = new Float64Array(0);
  /** Whether the cells are consecutive, so that values can be copied at once. */
  #isRun = false;

  constructor(rowCount: number, { laneCount, fieldCount, groupCount }: BlockShape) {
    const cellCount = rowCount * laneCount;
    this.#laneCount = laneCount;
    this.fields = repeat(fieldCount, () => new Float64Array(new SharedArrayBuffer(cellCount * 8)));
    this.groups = repeat(groupCount, () => new Int32Array(new SharedArrayBuffer(cellCount * 4)));
    this.present = new Uint8Array(new SharedArrayBuffer(cellCount));
  }

  /** Starts on the panel rows `firstRow` to `endRow`. */
  restart(firstRow: number, endRow: number): void {
    this.firstRow = firstRow;
    this.endRow = endRow;
    this.#presentCount = 0;
    this.present.fill(0);
  }

  /** Copies the rows from `start` on into their cells, up to the first one of another block (`filledRows`). */
  fill(rows: InputRows, start: number): FillOutcome {
    const [outcome, count] = this.#locate(rows, start);
    this.filledRows = count;
    const cells = this.#cells.subarray(0, count);
    this.fields.forEach((values, index) => {
      const source = rows.fields[index]!.subarray(start, start + count);
      if (this.#isRun) values.set(source, cells[0]);
      else for (let at = 0; at < count; at += 1) values[cells[at]!] = source[at]!;
    });
    this.groups.forEach((codes, index) => {
      const source = rows.groups[index]!.subarray(start, start + count);
      for (let at = 0; at < count; at += 1) codes[cells[at]!] = source[at]!;
    });
    return outcome;
  }

  /** Finds and marks the cells of rows, up to the first one of another block. */
  #locate({ rowCount, panelRows, lanes }: InputRows, start: number): [FillOutcome, number] {
    if (this.#cells.length < rowCount) this.#cells = new Float64Array(rowCount);
    const { firstRow, endRow, present } = this;
    let count = 0;
    let outcome: FillOutcome = "done";
    let isRun = true;
    for (let at = start; at < rowCount; at += 1) {
      const row = panelRows[at]!;
      const cell = (row - firstRow) * this.#laneCount + lanes[at]!;
      if (row >= endRow) outcome = "later";
      else if (row < firstRow) outcome = "earlier";
      else if (present[cell] === 1) outcome = "duplicate";
      if (outcome !== "done") break;
      present[cell] = 1;
      if (count > 0 && this.#cells[count - 1] !== cell - 1) isRun = false;
      this.#cells[count] = cell;
      count += 1;
    }
    this.#isRun = isRun && count > 0;
    this.#presentCount += count;
    return [outcome, count];
  }

  /** Whether some panel row has no row of input. */
  hasEmptyRow(): boolean {
    const cellCount = (this.endRow - this.firstRow) * this.#laneCount;
    if (this.#presentCount === cellCount) return false;
    for (let cell = 0; cell < cellCount; cell += this.#laneCount) {
      const at = this.present.indexOf(1, cell);
      if (at === -1 || at >= cell + this.#laneCount) return true;
    }
    return false;
  }

  /** Makes the cells without a row of input null. */
  finish(): void {
    const cellCount = (this.endRow - this.firstRow) * this.#laneCount;
    if (this.#presentCount === cellCount) return;
    const { present } = this;
    for (const values of this.fields) {
      for (let cell = 0; cell < cellCount; cell += 1) if (present[cell] === 0) values[cell] = Number.NaN;
    }
    for (const codes of this.groups) {
      for (let cell = 0; cell < cellCount; cell += 1) if (present[cell] === 0) codes[cell] = -1;
    }
  }

  /** The first rows as a block: one for each time. @param labels of each group; default: none */
  block(
    { fields, groups }: BlockRequest,
    times: BigInt64Array,
    labels: readonly (readonly string[])[] = [],
  ): PanelBlock {
    const count = times.length * this.#laneCount;
    const group = (name: string, index: number): [string, GroupColumn] => {
      const codes = this.groups[index]!.subarray(0, count);
      return [name, { name, labels: labels[index] ?? [], codes, changesOverTime: true }];
    };
    return {
      rowCount: times.length,
      times,
      fields: new Map(fields.map((name, index) => [name, this.fields[index]!.subarray(0, count)])),
      groups: new Map(groups.map(group)),
      present: this.present.subarray(0, count),
    };
  }
}

/**
 * Allocates blocks of `rowCount` panel rows.
 *
 * @throws ResourceError E441 if they do not fit in the machine's memory.
 */
export function allocateBlocks(
  file: string,
  blockCount: number,
  rowCount: number,
  shape: BlockShape,
): BlockCells[] {
  const { laneCount, fieldCount, groupCount } = shape;
  const needBytes = blockCount * rowCount * laneCount * (8 * fieldCount + 4 * groupCount + 1);
  const tooLarge = () => panelTooLarge(file, rowCount, laneCount, needBytes, machineMemoryBytes());
  if (needBytes > machineMemoryBytes()) throw tooLarge();
  try {
    return repeat(blockCount, () => new BlockCells(rowCount, shape));
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(); // the operating system refuses the memory
    throw error;
  }
}

function repeat<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}
