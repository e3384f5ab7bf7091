/** The output table of a few rows of a session, in memory of its own. */
import {
  type Data,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import type { FinishedRow } from "../../kernel/run/finished_rows.ts";
import type { TimeType } from "../../panel.ts";
import { fillTime, keyColumns, nonFiniteMetadata, timesOf } from "./factor_batches.ts";
import { FactorCells } from "./factor_cells.ts";

/** The time and the symbol. */
const KEY_COLUMNS = 2;

/**
 * Memory of about this size is allocated at a time: the C library has pieces of it at hand, while it maps the memory of
 * a large table page by page, which takes as long as copying the values (101 columns of 4,096 values).
 */
const PIECE_BYTES = 2 ** 19;

/** What the tables of a program have in common. */
export interface RowColumns {
  /** The schema of rows without infinities. */
  readonly schema: Schema;
  readonly time: TimeType;
  /** In code-unit order. */
  readonly symbols: Vector<Utf8>;
  readonly keepInfinite: boolean;
}

/** The cells of one row that are output. */
export interface TableRow {
  readonly time: bigint;
  /** Lane of each cell, in the order of the output. */
  readonly cells: Int32Array;
  /** Index of each cell's symbol. */
  readonly symbols: Int32Array;
  /** Each factor; null if it is null in this row. */
  readonly factors: readonly (FinishedRow | null)[];
}

/** Builds the table that `evaluate` returns for these rows: schema, order, nulls. */
export class RowTable {
  readonly #columns: RowColumns;
  readonly #times: BigInt64Array | Int32Array;
  readonly #symbols: Int32Array;
  readonly #factors: readonly FactorCells[];
  #filled = 0;

  /** A table of at most `cellCount` cells. */
  constructor(columns: RowColumns, cellCount: number) {
    this.#columns = columns;
    this.#times = timesOf(columns.time, cellCount);
    this.#symbols = new Int32Array(cellCount);
    this.#factors = emptyCells(columns.schema.fields.length - KEY_COLUMNS, cellCount, columns.keepInfinite);
  }

  append({ time, cells, symbols, factors }: TableRow): void {
    const start = this.#filled;
    this.#filled += cells.length;
    fillTime(this.#times, time, start, this.#filled);
    this.#symbols.set(symbols, start);
    const areFirst = areFirstLanes(cells);
    this.#factors.forEach((column, index) => {
      const factor = factors[index]!;
      if (factor === null) column.addNulls(cells.length);
      else column.gatherFinished(factor, cells, areFirst);
    });
  }

  /** The table of the rows so far, to which none can be appended then. */
  take(): Table {
    const length = this.#filled;
    if (length === 0) return new Table(this.#columns.schema);
    const schema = this.#schema();
    const [times, symbols] = [this.#times.subarray(0, length), this.#symbols.subarray(0, length)];
    const keys = keyColumns(schema.fields[0]!.type, times, symbols, this.#columns.symbols);
    const children = [...keys, ...this.#factors.map((column) => column.data())];
    const rows = makeData({ type: new Struct(schema.fields), length, children });
    return new Table(schema, [new RowBatch(schema, rows)]);
  }

  #schema(): Schema {
    const { schema } = this.#columns;
    if (this.#factors.every(({ nonFiniteCount }) => nonFiniteCount === 0)) return schema;
    const fields = schema.fields.map((field, index) => {
      const nonFiniteCount = this.#factors[index - KEY_COLUMNS]?.nonFiniteCount ?? 0;
      if (nonFiniteCount === 0) return field;
      return field.clone({ metadata: new Map([...field.metadata, ...nonFiniteMetadata(nonFiniteCount)]) });
    });
    return new Schema(fields, schema.metadata);
  }
}

/** The texts of symbols, which the tables of a session share: whoever reads them decodes each once, not in every table. */
export function symbolTexts(symbols: readonly string[]): Vector<Utf8> {
  return vectorFromArray([...symbols], new Utf8()).memoize();
}

/** A batch whose columns match the schema: for others, `RecordBatch` compares all pairs of names. */
class RowBatch extends RecordBatch {
  constructor(schema: Schema, data: Data<Struct>) {
    super(NO_FIELDS, NO_ROWS);
    Object.assign(this, { schema, data });
  }
}

const NO_FIELDS = new Schema([]);
const NO_ROWS = makeData({ type: new Struct([]), length: 0, children: [] });

/** Columns of factors with memory that is not zeroed before it is filled. */
function emptyCells(count: number, capacity: number, keepInfinite: boolean): FactorCells[] {
  const valueBytes = capacity * Float64Array.BYTES_PER_ELEMENT;
  const bitBytes = (capacity + 7) >> 3;
  const columnBytes = valueBytes + 8 * Math.ceil(bitBytes / 8);
  const perPiece = Math.max(1, Math.floor(PIECE_BYTES / columnBytes));
  let piece = new ArrayBuffer(0);
  return Array.from({ length: count }, (_, index) => {
    const at = index % perPiece;
    if (at === 0) piece = Buffer.allocUnsafeSlow(Math.min(perPiece, count - index) * columnBytes).buffer;
    const cells = new FactorCells(keepInfinite);
    cells.values = new Float64Array(piece, at * columnBytes, capacity);
    cells.validity = new Uint8Array(piece, at * columnBytes + valueBytes, bitBytes);
    cells.clear();
    return cells;
  });
}

function areFirstLanes(cells: Int32Array): boolean {
  for (let index = 0; index < cells.length; index++) if (cells[index] !== index) return false;
  return true;
}
