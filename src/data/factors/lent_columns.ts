/** Columns over memory that will be reused: invalidates them before. */
import { BufferType, type Data, type DataType, type Struct } from "apache-arrow";
import { tableOverwritten } from "../errors.ts";

/** The columns of a table, until their memory is used again. */
export class LentColumns {
  #rows: Data<Struct> | null = null;
  #columns: readonly Data[] = [];

  lend(rows: Data<Struct>, columns: readonly Data[]): void {
    this.#rows = rows;
    this.#columns = columns;
  }

  /**
   * Takes the buffers away from the table and from vectors and rows of it, so that a late read throws. Reads before cost
   * nothing.
   */
  reclaim(): void {
    if (this.#rows === null) return;
    for (const column of this.#columns) Object.assign(column, TAKEN_COLUMN);
    Object.assign(this.#rows, TAKEN_ROWS);
    this.#rows = null;
    this.#columns = [];
  }
}

/** Throws on every access. */
const TAKEN = new Proxy(
  {},
  {
    get: () => {
      throw tableOverwritten();
    },
  },
);
const TAKEN_COLUMN = { values: TAKEN, nullBitmap: TAKEN };
const TAKEN_ROWS = { children: TAKEN };

/** A copy of the column. */
export function copied<T extends DataType>(column: Data<T>): Data<T> {
  const { type, offset, length, nullCount, values, nullBitmap } = column;
  const buffers = { [BufferType.DATA]: values.slice(), [BufferType.VALIDITY]: nullBitmap?.slice() };
  return column.clone(type, offset, length, nullCount, buffers as unknown as Data<T>["buffers"]);
}
