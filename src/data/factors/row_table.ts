/** The output table of a few rows, in memory that is reused for the next ones. */
import {
  type Data,
  type Float64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import {
  checkFactorNames,
  factorField,
  fillTime,
  keyColumns,
  type OutputColumns,
  schemaOf,
  timesOf,
} from "./factor_batches.ts";
import { FactorCells } from "./factor_cells.ts";
import type { FinishedFactor } from "./finished_factor.ts";
import { copied, LentColumns } from "./lent_columns.ts";

/** The time and the symbol. */
const KEY_COLUMNS = 2;

/** The cells of one row that are output. */
export interface TableRow {
  readonly time: bigint;
  /** Index of each cell in the columns, in the order of the output. */
  readonly cells: Int32Array;
  /** Index of each cell's symbol. */
  readonly symbols: Int32Array;
  /** Each factor; null if it is null in this row. */
  readonly factors: readonly (FinishedFactor | null)[];
}

/**
 * Whose memory the factors of a table have: the executors', where the finished row has the lanes in their order, as long as
 * no other row runs there; the `RowTable`'s, until its next table; or one of its own, for good.
 */
export type TableMemory = "executors" | "reused" | "own";

/**
 * Builds the table that `evaluate` returns for these rows: schema, order, nulls. If it has one row with the lanes in their
 * order, its factors are views of the finished rows; else they are gathered.
 */
export class RowTable {
  readonly #columns: Omit<OutputColumns, "symbols">;
  /** The values of each factor that are gathered or copied. */
  readonly #cells: readonly FactorCells[];
  /** The schema of rows without infinities. */
  readonly #finiteSchema: Schema;
  #dictionary: Vector<Utf8> = vectorFromArray([], new Utf8());
  #times: BigInt64Array | Int32Array;
  #symbols = new Int32Array(0);
  #filled = 0;
  #cellCount = 0;
  /** The factors of the only row, if they are not gathered. */
  #inPlace: TableRow["factors"] | null = null;
  /** The column of a factor without values. */
  #nulls: Data<Float64> | null = null;
  readonly #lent = new LentColumns();

  /** @throws DataError E341 when a factor has the name of a key column. */
  constructor(columns: Omit<OutputColumns, "symbols">, keepInfinite: boolean) {
    checkFactorNames(columns);
    const { time, factors } = columns;
    this.#columns = columns;
    this.#cells = factors.map(() => new FactorCells(keepInfinite));
    this.#finiteSchema = schemaOf(
      time,
      factors.map((name) => factorField(name, 0)),
    );
    this.#times = timesOf(time.type, 0);
  }

  /** Symbols in code-unit order. */
  set symbols(symbols: readonly string[]) {
    this.#dictionary = vectorFromArray([...symbols], new Utf8());
  }

  /** Invalidates the last table, whose memory is about to be reused: it throws when it is read. */
  reclaim(): void {
    this.#lent.reclaim();
  }

  /** Begins a table of at most `cellCount` cells, in the buffers of the last one. */
  begin(cellCount: number): void {
    this.reclaim();
    this.#filled = 0;
    this.#cellCount = cellCount;
    this.#inPlace = null;
    if (this.#symbols.length >= cellCount) return;
    this.#times = timesOf(this.#columns.time.type, cellCount);
    this.#symbols = new Int32Array(cellCount);
  }

  append({ time, cells, symbols, factors }: TableRow): void {
    const start = this.#filled;
    this.#filled += cells.length;
    fillTime(this.#times, time, start, this.#filled);
    this.#symbols.set(symbols, start);
    if (cells.length === this.#cellCount && areFirstLanes(cells)) {
      this.#inPlace = factors;
      return;
    }
    if (start === 0) this.#beginGathering();
    this.#cells.forEach((column, index) => {
      const factor = factors[index]!;
      if (factor === null) column.addNulls(cells.length);
      else column.gatherFinished(factor.row, cells);
    });
  }

  take(memory: TableMemory): Table {
    const length = this.#filled;
    if (length === 0) return new Table(this.#finiteSchema);
    const factors = this.#takeFactors(length, memory === "reused");
    const schema = this.#schema();
    const times = this.#times.subarray(0, length);
    const symbols = this.#symbols.subarray(0, length);
    const keys = keyColumns(schema.fields[0]!.type, times, symbols, this.#dictionary);
    const columns = [...keys, ...factors];
    const type = new Struct(schema.fields);
    const children = memory === "own" ? columns.map(copied) : columns;
    const rows = makeData({ type, length, children });
    if (memory !== "own") this.#lent.lend(rows, children);
    return new Table(schema, [new RowBatch(schema, rows)]);
  }

  #beginGathering(): void {
    for (const cells of this.#cells) {
      if (cells.values.length < this.#cellCount) {
        cells.values = new Float64Array(this.#cellCount);
        cells.validity = new Uint8Array((this.#cellCount + 7) >> 3);
      }
      cells.clear();
    }
  }

  #takeFactors(length: number, isReused: boolean): Data<Float64>[] {
    if (this.#inPlace === null) return this.#cells.map((cells) => cells.data());
    const columns = this.#inPlace.map((factor) => factor?.data(length) ?? this.#nullsOf(length));
    if (!isReused) return columns;
    this.#beginGathering();
    return columns.map((column, index) => this.#cells[index]!.copy(column));
  }

  #nullsOf(length: number): Data<Float64> {
    if (this.#nulls?.length !== length) this.#nulls = nullColumn(length);
    return this.#nulls.clone();
  }

  /** The schema of the last factors. */
  #schema(): Schema {
    const counted: readonly (Pick<FactorCells, "nonFiniteCount"> | null)[] = this.#inPlace ?? this.#cells;
    if (counted.every((factor) => (factor?.nonFiniteCount ?? 0) === 0)) return this.#finiteSchema;
    const fields = this.#finiteSchema.fields.map((field, index) => {
      const nonFiniteCount = counted[index - KEY_COLUMNS]?.nonFiniteCount ?? 0;
      return nonFiniteCount === 0 ? field : factorField(field.name, nonFiniteCount);
    });
    return new Schema(fields);
  }
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

function nullColumn(length: number): Data<Float64> {
  const cells = new FactorCells(false);
  cells.values = new Float64Array(length);
  cells.validity = new Uint8Array((length + 7) >> 3);
  cells.addNulls(length);
  return cells.data();
}

function areFirstLanes(cells: Int32Array): boolean {
  for (let index = 0; index < cells.length; index++) if (cells[index] !== index) return false;
  return true;
}
