/** Turns blocks of factor values into the record batches of the long output table. */
import {
  BufferType,
  Data,
  type DataType,
  Dictionary,
  Field,
  Float64,
  Int32,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import type { ProgramOrigin } from "../../dag/fingerprints.ts";
import type { TimeType } from "../../panel.ts";
import { Pauses } from "../../steps.ts";
import { factorNameTaken } from "../errors.ts";
import { columnOf, type PanelSource } from "../panel/panel_source.ts";
import { arrowTimeType } from "../time/arrow_time.ts";
import { FactorValues, fitted, grown } from "./factor_values.ts";
import { TableMemory } from "./table_memory.ts";

/** The columns of the output: the time under its own name and type, `symbol`, the factors. */
export interface OutputColumns {
  readonly time: { readonly name: string; readonly type: TimeType };
  /** One per lane. */
  readonly symbols: readonly string[];
  readonly factors: readonly string[];
  /** Of the program: files of results name it (`src/data/write/named_schema.ts`). */
  readonly origin?: () => ProgramOrigin;
}

export interface OutputOptions {
  /** Keep infinities as values; otherwise they become null (and are counted). */
  readonly keepInfinite?: boolean;
  /** Rows of the panel, if all batches stay in memory. */
  readonly rowCount?: number;
}

/** Consecutive rows of factor values. */
export interface FactorBlock {
  readonly rowCount: number;
  /** One per row. */
  readonly times: BigInt64Array;
  /** `[rows x lanes]`, 1 for a cell that the input has: only these are output. */
  readonly present: Uint8Array;
  /** `[rows x lanes]` by name, NaN for null; null for a factor that was not wanted, whose output is null. */
  readonly columns: ReadonlyMap<string, Float64Array | null>;
}

/** Approximate rows of output per record batch, which holds whole rows of the panel. */
const BATCH_ROWS = 65_536;
/** Approximate limit for batches of many factors, which are shorter. */
const BATCH_BYTES = 16 * 1024 * 1024;
export const SYMBOL_NAME = "symbol";
/** With a constant id: ids that Arrow counts would make files of equal tables differ. */
const SYMBOL_TYPE = new Dictionary(new Utf8(), new Int32(), 0);

/**
 * Gathers the cells that the input has, sorted by time, then lane. Batches do not depend on the size of blocks.
 */
export class FactorBatches {
  readonly #columns: OutputColumns;
  readonly #panelRowsPerBatch: number;
  readonly #capacity: number;
  readonly #dictionary: Vector<Utf8>;
  readonly #factors: readonly FactorValues[];
  /** The columns of a large batch take long. */
  readonly #pauses = new Pauses();
  #times: BigInt64Array | Int32Array;
  #lanes = new Int32Array(0);
  /** Rows of the panel, and of output, in the current batch. */
  #panelRows = 0;
  #filled = 0;
  #batchCount = 0;

  /** @throws DataError E314 when a factor has the name of a key column. */
  constructor(columns: OutputColumns, options: OutputOptions) {
    checkFactorNames(columns);
    this.#columns = columns;
    const laneCount = columns.symbols.length;
    const rowBytes = 8 * (columns.factors.length + 2);
    const batchRows = Math.min(BATCH_ROWS, BATCH_BYTES / rowBytes);
    this.#panelRowsPerBatch = Math.max(1, Math.floor(batchRows / laneCount));
    this.#capacity = this.#panelRowsPerBatch * laneCount;
    this.#times = timesOf(columns.time.type, 0);
    this.#dictionary = vectorFromArray([...columns.symbols], new Utf8());
    const batchCount = Math.ceil((options.rowCount ?? 0) / this.#panelRowsPerBatch);
    const memory = TableMemory.for(batchCount * columns.factors.length, this.#capacity);
    this.#factors = columns.factors.map(
      () => new FactorValues(this.#capacity, options.keepInfinite === true, memory),
    );
  }

  /** The schema of the table; the counts in its metadata are those so far. */
  schema(): Schema {
    return schemaOf(this.#columns, (factor) => this.#factors[factor]!.nonFiniteCount);
  }

  /** Nulls of each factor's column so far, by name. */
  get nullCounts(): ReadonlyMap<string, number> {
    return this.#countsOf(({ nullCount }) => nullCount);
  }

  /** Infinities among each factor's values so far, kept or not, by name. */
  get nonFiniteCounts(): ReadonlyMap<string, number> {
    return this.#countsOf(({ nonFiniteCount }) => nonFiniteCount);
  }

  #countsOf(count: (values: FactorValues) => number): Map<string, number> {
    return new Map(this.#columns.factors.map((name, index) => [name, count(this.#factors[index]!)]));
  }

  /** True as long as no batch was yielded. */
  get isEmpty(): boolean {
    return this.#batchCount === 0;
  }

  /** Adds the next rows of the panel; yields the batches that are full. */
  async *append(block: FactorBlock): AsyncGenerator<RecordBatch, void, void> {
    const sources = this.#columns.factors.map((name) => columnOf(block.columns, name));
    for (let row = 0; row < block.rowCount; ) {
      const count = Math.min(block.rowCount - row, this.#panelRowsPerBatch - this.#panelRows);
      await this.#gather(block, sources, row, row + count);
      row += count;
      if (this.#panelRows === this.#panelRowsPerBatch) yield* this.finish();
    }
  }

  /** Reuses the memory of a batch that has been written. */
  reuse({ data }: RecordBatch): void {
    const keys = data.children.length - this.#factors.length;
    for (const [index, values] of this.#factors.entries()) {
      values.reuse(data.children[keys + index] as Data<Float64>);
    }
  }

  async #gather(
    { times, present }: FactorBlock,
    sources: readonly (Float64Array | null)[],
    first: number,
    end: number,
  ): Promise<void> {
    const laneCount = this.#columns.symbols.length;
    const cells = new Int32Array((end - first) * laneCount);
    this.#times = grown(this.#times, this.#filled + cells.length, this.#capacity);
    this.#lanes = grown(this.#lanes, this.#filled + cells.length, this.#capacity);
    let count = 0;
    for (let row = first; row < end; row += 1) {
      const start = this.#filled + count;
      for (let lane = 0; lane < laneCount; lane += 1) {
        if (present[row * laneCount + lane] !== 1) continue;
        cells[count] = (row - first) * laneCount + lane;
        this.#lanes[this.#filled + count] = lane;
        count += 1;
      }
      fillTime(this.#times, times[row]!, start, this.#filled + count);
    }
    const offsets = cells.subarray(0, count);
    const isDense = count === (end - first) * laneCount;
    for (const [index, values] of this.#factors.entries()) {
      values.gather(sources[index]?.subarray(first * laneCount, end * laneCount) ?? null, offsets, isDense);
      await this.#pauses.afterStep();
    }
    this.#filled += count;
    this.#panelRows += end - first;
  }

  /** Yields the gathered rows as a batch, if there are any: at the end the last one. */
  async *finish(): AsyncGenerator<RecordBatch, void, void> {
    const length = this.#filled;
    this.#filled = 0;
    this.#panelRows = 0;
    if (length === 0) return;
    this.#batchCount += 1;
    const times = fitted(this.#times, length);
    const lanes = fitted(this.#lanes, length);
    const children = keyColumns(arrowTimeType(this.#columns.time.type), times, lanes, this.#dictionary);
    for (const values of this.#factors) {
      children.push(values.take());
      await this.#pauses.afterStep();
    }
    this.#times = timesOf(this.#columns.time.type, 0);
    this.#lanes = new Int32Array(0);
    const schema = this.schema();
    yield new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length, children }));
  }
}

/**
 * The batches of rows that come block by block. Without rows one that is empty, so that the columns are known.
 *
 * @throws as `FactorBatches`, and what the blocks throw.
 */
export async function* batchesOfBlocks(
  batches: FactorBatches,
  blocks: AsyncIterable<FactorBlock>,
): AsyncGenerator<RecordBatch, void, void> {
  for await (const block of blocks) yield* batches.append(block);
  yield* batches.finish();
  if (batches.isEmpty) yield new RecordBatch(batches.schema(), undefined);
}

/** @throws DataError E314 when a factor has the name of a key column. */
export function checkFactorNames({ time, factors }: Omit<OutputColumns, "symbols">): void {
  for (const name of factors) {
    const taken = [time.name, SYMBOL_NAME].find((key) => key.toLowerCase() === name.toLowerCase());
    if (taken !== undefined) throw factorNameTaken(name, taken);
  }
}

/** The columns of the output for what is wanted of a program over a source. */
export function outputColumns(
  { time, symbols }: PanelSource,
  wanted: { readonly factors: readonly { readonly name: string }[]; readonly origin: () => ProgramOrigin },
): OutputColumns {
  return { time, symbols, factors: wanted.factors.map(({ name }) => name), origin: wanted.origin };
}

/** The names of the output's columns. */
export function outputNames({ time, factors }: Omit<OutputColumns, "symbols">): string[] {
  return [time.name, SYMBOL_NAME, ...factors];
}

/** Memory of a time column as Arrow has it. */
export function timesOf(type: TimeType, length: number): BigInt64Array | Int32Array {
  const isNarrow = type.kind === "date" || (type.kind === "integer" && type.bits === 32);
  return isNarrow ? new Int32Array(length) : new BigInt64Array(length);
}

export function fillTime(column: BigInt64Array | Int32Array, time: bigint, start: number, end: number): void {
  if (column instanceof Int32Array) column.fill(Number(time), start, end);
  else column.fill(time, start, end);
}

/** The time and the symbol of each cell, by its lane. */
export function keyColumns(
  timeType: DataType,
  times: BigInt64Array | Int32Array,
  lanes: Int32Array,
  dictionary: Vector<Utf8>,
): Data[] {
  const { length } = lanes;
  return [
    new Data<DataType>(timeType, 0, length, 0, { [BufferType.DATA]: times }),
    makeData({ type: SYMBOL_TYPE, length, nullCount: 0, data: lanes, dictionary }),
  ];
}

/** The schema of the output, given the number of infinities of each factor by its index. */
export function schemaOf(
  { time, factors }: Omit<OutputColumns, "symbols">,
  nonFiniteCountOf: (factor: number) => number,
): Schema {
  const keys = [
    new Field(time.name, arrowTimeType(time.type), false),
    new Field(SYMBOL_NAME, SYMBOL_TYPE, false),
  ];
  const fields = factors.map((name, factor) => {
    return new Field(name, new Float64(), true, nonFiniteMetadata(nonFiniteCountOf(factor)));
  });
  return new Schema([...keys, ...fields]);
}

export function nonFiniteMetadata(count: number): Map<string, string> {
  return new Map([["nonFinite", String(count)]]);
}
