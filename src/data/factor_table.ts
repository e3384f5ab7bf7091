/** Factor values into the long output table. */
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
  Table,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import type { Panel, TimeColumn } from "../panel.ts";
import { arrowTimeType } from "./arrow_time.ts";
import { factorNameTaken, noRowsInRange } from "./errors.ts";
import { gatherBlock, type OutputBlock, splitBlocks } from "./output_blocks.ts";
import { formatTime } from "./time_text.ts";

export interface FactorColumn {
  readonly name: string;
  /** `[rows x lanes]`, NaN for null; null for a factor that was not wanted: its column is null throughout. */
  readonly values: Float64Array | null;
}

export interface FactorTableOptions {
  /** Keep infinities as values; otherwise they become null (and are counted). */
  readonly keepInfinite?: boolean;
  /** First and last time of the output, inclusive, as values of the panel's time column. */
  readonly from?: bigint;
  readonly to?: bigint;
}

export interface FactorTable {
  readonly table: Table;
  /** Nulls of each factor's column, by name. */
  readonly nullCounts: Map<string, number>;
  /** Infinities among each factor's values, kept or not, by name; also in the field's metadata (`nonFinite`). */
  readonly nonFiniteCounts: Map<string, number>;
}

const SYMBOL_NAME = "symbol";
/** With an id of its own: ids counted up by Arrow would make equal tables differ as files. */
const SYMBOL_TYPE = new Dictionary(new Utf8(), new Int32(), 0);

/**
 * The long output table: the time column under its own name and type, `symbol` (dictionary-encoded), one nullable
 * Float64 column per factor; one line per cell that the input has (`present`), sorted by time, then symbol.
 * NaN becomes null, and so does an infinity unless `keepInfinite`.
 *
 * @throws DataError E341 when a factor has the name of a key column, E342 when `from` and `to` leave no row.
 */
export function factorTable(
  panel: Panel,
  factors: readonly FactorColumn[],
  options: FactorTableOptions = {},
): FactorTable {
  checkFactorNames(panel, factors);
  const blocks = splitBlocks(panel, options.from, options.to);
  if (blocks.length === 0 && panel.rowCount > 0) throw emptyRange(panel.time);
  const columns = factors.map((factor) => gatherFactor(panel, factor, blocks, options.keepInfinite === true));
  const schema = outputSchema(panel, columns);
  const symbols = vectorFromArray([...panel.symbols], new Utf8());
  const batches = blocks.map((block, index) => {
    const children = [
      timeData(panel, block),
      symbolData(panel, block, symbols),
      ...columns.map((column) => column.data[index]!),
    ];
    return new RecordBatch(
      schema,
      makeData({ type: new Struct(schema.fields), length: block.offsets.length, children }),
    );
  });
  return {
    table: new Table(schema, batches),
    nullCounts: new Map(columns.map(({ name, nullCount }) => [name, nullCount])),
    nonFiniteCounts: new Map(columns.map(({ name, nonFiniteCount }) => [name, nonFiniteCount])),
  };
}

function checkFactorNames(panel: Panel, factors: readonly FactorColumn[]): void {
  for (const { name } of factors) {
    const taken = [panel.time.name, SYMBOL_NAME].find((key) => key.toLowerCase() === name.toLowerCase());
    if (taken !== undefined) throw factorNameTaken(name, taken);
  }
}

function emptyRange({ values, type }: TimeColumn): Error {
  return noRowsInRange(formatTime(values[0]!, type), formatTime(values[values.length - 1]!, type));
}

interface GatheredFactor {
  readonly name: string;
  readonly data: Data<Float64>[];
  readonly nullCount: number;
  readonly nonFiniteCount: number;
}

function gatherFactor(
  panel: Panel,
  factor: FactorColumn,
  blocks: readonly OutputBlock[],
  keepInfinite: boolean,
): GatheredFactor {
  let nullCount = 0;
  let nonFiniteCount = 0;
  const data = blocks.map((block) => {
    const gathered = gatherBlock(panel, factor.values, block, keepInfinite);
    nullCount += gathered.nullCount;
    nonFiniteCount += gathered.nonFiniteCount;
    return makeData({
      type: new Float64(),
      length: block.offsets.length,
      nullCount: gathered.nullCount,
      nullBitmap: gathered.nullCount === 0 ? null : gathered.validity,
      data: gathered.values,
    });
  });
  return { name: factor.name, data, nullCount, nonFiniteCount };
}

function outputSchema(panel: Panel, columns: readonly GatheredFactor[]): Schema {
  return new Schema([
    new Field(panel.time.name, arrowTimeType(panel.time.type), false),
    new Field(SYMBOL_NAME, SYMBOL_TYPE, false),
    ...columns.map(({ name, nonFiniteCount }) => {
      const metadata = new Map([["nonFinite", String(nonFiniteCount)]]);
      return new Field(name, new Float64(), true, metadata);
    }),
  ]);
}

function timeData(panel: Panel, { first, offsets }: OutputBlock): Data {
  const { type, values } = panel.time;
  const times = new BigInt64Array(offsets.length);
  for (let index = 0; index < offsets.length; index += 1) {
    times[index] = values[first + Math.floor(offsets[index]! / panel.laneCount)]!;
  }
  const isNarrow = type.kind === "date" || (type.kind === "integer" && type.bits === 32);
  const data = isNarrow ? Int32Array.from(times, Number) : times;
  return new Data<DataType>(arrowTimeType(type), 0, offsets.length, 0, { [BufferType.DATA]: data });
}

function symbolData(panel: Panel, { offsets }: OutputBlock, dictionary: Vector<Utf8>): Data {
  const codes = new Int32Array(offsets.length);
  for (let index = 0; index < offsets.length; index += 1) codes[index] = offsets[index]! % panel.laneCount;
  return makeData({ type: SYMBOL_TYPE, length: offsets.length, nullCount: 0, data: codes, dictionary });
}
