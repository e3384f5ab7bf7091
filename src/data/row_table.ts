/** The output table of a few rows, in memory that is used again for the next ones. */
import {
  BufferType,
  Data,
  type DataType,
  Field,
  Float64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import { arrowTimeType } from "./arrow_time.ts";
import { checkFactorNames, type OutputColumns, SYMBOL_NAME, SYMBOL_TYPE } from "./factor_batches.ts";
import { FactorCells } from "./factor_cells.ts";

/** The time and the symbol. */
const KEY_COLUMNS = 2;

/** The cells of one row that are output. */
export interface TableRow {
  readonly time: bigint;
  /** Where each cell stands in the columns, in the order of the output. */
  readonly cells: Int32Array;
  /** Index of each cell's symbol. */
  readonly symbols: Int32Array;
  /** For each factor its values, NaN for null; null for a factor whose column is null in this row. */
  readonly columns: readonly (Float64Array | null)[];
}

/**
 * Gives the table that `evaluate` gives for these rows: schema, order, nulls. The buffers of a table hold until rows are
 * gathered for the next one.
 */
export class RowTable {
  readonly #columns: Omit<OutputColumns, "symbols">;
  readonly #factors: readonly FactorCells[];
  /** The schema of rows without infinities. */
  readonly #finiteSchema: Schema;
  #dictionary: Vector<Utf8> = vectorFromArray([], new Utf8());
  #times: BigInt64Array | Int32Array;
  #symbols = new Int32Array(0);
  #filled = 0;

  /** @throws DataError E341 when a factor has the name of a key column. */
  constructor(columns: Omit<OutputColumns, "symbols">, keepInfinite: boolean) {
    checkFactorNames({ ...columns, symbols: [] });
    const { time, factors } = columns;
    this.#columns = columns;
    this.#factors = factors.map(() => new FactorCells(keepInfinite));
    this.#finiteSchema = new Schema([
      new Field(time.name, arrowTimeType(time.type), false),
      new Field(SYMBOL_NAME, SYMBOL_TYPE, false),
      ...factors.map((name) => factorField(name, 0)),
    ]);
    this.#times = this.#newTimes(0);
  }

  /** Symbols in code-unit order. */
  set symbols(symbols: readonly string[]) {
    this.#dictionary = vectorFromArray([...symbols], new Utf8());
  }

  /** Begins a table of at most so many cells: the buffers of the one before are used again. */
  begin(cellCount: number): void {
    this.#filled = 0;
    if (this.#symbols.length < cellCount) {
      this.#times = this.#newTimes(cellCount);
      this.#symbols = new Int32Array(cellCount);
    }
    for (const factor of this.#factors) {
      if (factor.values.length < cellCount) {
        factor.values = new Float64Array(cellCount);
        factor.validity = new Uint8Array((cellCount + 7) >> 3);
      }
      factor.clear();
    }
  }

  append({ time, cells, symbols, columns }: TableRow): void {
    const start = this.#filled;
    this.#filled += cells.length;
    if (this.#times instanceof BigInt64Array) this.#times.fill(time, start, this.#filled);
    else this.#times.fill(Number(time), start, this.#filled);
    this.#symbols.set(symbols, start);
    const isOneRange = isDense(cells);
    for (let i = 0; i < this.#factors.length; i++) this.#factors[i]!.gather(columns[i]!, cells, isOneRange);
  }

  take(): Table {
    const length = this.#filled;
    const schema = this.#schema();
    if (length === 0) return new Table(schema);
    const times = this.#times.subarray(0, length);
    const timeType: DataType = schema.fields[0]!.type;
    const children = [
      new Data<DataType>(timeType, 0, length, 0, { [BufferType.DATA]: times }),
      makeData({
        type: SYMBOL_TYPE,
        length,
        nullCount: 0,
        data: this.#symbols.subarray(0, length),
        dictionary: this.#dictionary,
      }),
      ...this.#factors.map((factor) => factor.data()),
    ];
    const type = new Struct(schema.fields);
    return new Table(schema, [new RowBatch(schema, makeData({ type, length, children }))]);
  }

  #schema(): Schema {
    if (this.#factors.every(({ nonFiniteCount }) => nonFiniteCount === 0)) return this.#finiteSchema;
    const fields = this.#finiteSchema.fields.map((field, index) => {
      const { nonFiniteCount = 0 } = this.#factors[index - KEY_COLUMNS] ?? {};
      return nonFiniteCount === 0 ? field : factorField(field.name, nonFiniteCount);
    });
    return new Schema(fields);
  }

  #newTimes(length: number): BigInt64Array | Int32Array {
    const { type } = this.#columns.time;
    const isNarrow = type.kind === "date" || (type.kind === "integer" && type.bits === 32);
    return isNarrow ? new Int32Array(length) : new BigInt64Array(length);
  }
}

function factorField(name: string, nonFiniteCount: number): Field {
  return new Field(name, new Float64(), true, new Map([["nonFinite", String(nonFiniteCount)]]));
}

/** A batch of columns that fit their schema: for others, `RecordBatch` compares every name with every other one. */
class RowBatch extends RecordBatch {
  constructor(schema: Schema, data: Data<Struct>) {
    super(NO_FIELDS, NO_ROWS);
    Object.assign(this, { schema, data });
  }
}

const NO_FIELDS = new Schema([]);
const NO_ROWS = makeData({ type: new Struct([]), length: 0, children: [] });

function isDense(cells: Int32Array): boolean {
  for (let index = 1; index < cells.length; index++) if (cells[index] !== cells[index - 1]! + 1) return false;
  return true;
}
