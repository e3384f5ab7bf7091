/** Columns over memory that is used again: what was lent is taken back. */
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
   * Takes the buffers away from the table, and from vectors and rows that were taken of it: nothing is asked of those who
   * read a table in time.
   */
  reclaim(): void {
    if (this.#rows === null) return;
    for (const column of this.#columns) Object.assign(column, TAKEN_COLUMN);
    Object.assign(this.#rows, TAKEN_ROWS);
    this.#rows = null;
    this.#columns = [];
  }
}

/** Throws whatever is asked of it. */
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

/** The column in memory of its own. */
export function copied<T extends DataType>(column: Data<T>): Data<T> {
  const { type, offset, length, nullCount, values, nullBitmap } = column;
  const buffers = { [BufferType.DATA]: values.slice(), [BufferType.VALIDITY]: nullBitmap?.slice() };
  return column.clone(type, offset, length, nullCount, buffers as unknown as Data<T>["buffers"]);
}
