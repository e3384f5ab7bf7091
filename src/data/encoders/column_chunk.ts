/** One column of a row group of Parquet: its compressed pages, and what the footer says of them. */
import { promisify } from "node:util";
import { zstdCompress } from "node:zlib";
import { bytesOf, pageOf, type Range } from "./page_values.ts";
import type { ColumnValues, TableColumn } from "./table_columns.ts";
import { binary, bool, i32, i64, list, struct, type ThriftValue } from "./thrift.ts";

/** Numbers of https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift */
const PHYSICAL = { int32: 1, int64: 2, uint64: 2, double: 5, text: 6 } as const;
const OPTIONAL = 1;
const CONVERTED = { text: 0, date: 6, uint64: 14 } as const;
const LOGICAL = { text: 1, date: 6, timestamp: 8 } as const;
const UNITS = { s: 1, ms: 1, us: 2, ns: 3 } as const;
const DATA_PAGE = 0;
const [PLAIN, RLE] = [i32(0), i32(3)];
const ZSTD = 6;

/** Longer texts get no statistics, which would make the footer large. */
const STATISTIC_BYTES_MAX = 64;
const SECOND_MS = 1000n;

const compress = promisify(zstdCompress);

/** How the schema of a file describes the column. */
export function schemaElement({ name, kind, time }: TableColumn): ThriftValue {
  const type = { 1: i32(PHYSICAL[kind]), 3: i32(OPTIONAL), 4: binary(name) };
  if (time?.kind === "timestamp") {
    const { unit, timezone } = time;
    // DuckDB reads no nanoseconds with a zone. The Arrow schema has the zone of these, and the unit of seconds.
    const isInstant = bool(timezone !== null && unit !== "ns");
    const timestamp = struct({ 1: isInstant, 2: struct({ [UNITS[unit]]: struct({}) }) });
    return struct({ ...type, 10: struct({ [LOGICAL.timestamp]: timestamp }) });
  }
  if (kind === "uint64") return struct({ ...type, 6: i32(CONVERTED.uint64) });
  const word = kind === "text" ? "text" : time?.kind;
  if (word === undefined) return struct(type);
  return struct({ ...type, 6: i32(CONVERTED[word]), 10: struct({ [LOGICAL[word]]: struct({}) }) });
}

/** A column of a row group: a header and one compressed page. */
export interface ColumnChunk {
  readonly parts: readonly Uint8Array[];
  /** Bytes before compression. */
  readonly plainBytes: number;
  /** Its entry in the footer, if it begins at this position of the file. */
  entry(position: number): ThriftValue;
}

/** Encodes the values of a column, batch by batch. */
export async function columnChunk(
  column: TableColumn,
  batches: readonly ColumnValues[],
): Promise<ColumnChunk> {
  const { bytes, rowCount, nullCount, range } = pageOf(batches.map((cells) => inUnit(column, cells)));
  const { length } = bytes;
  // With its size known, and an output in one piece, zstd takes half of the time.
  const chunkSize = length + (length >> 7) + 1024;
  const compressed = new Uint8Array(await compress(bytes, { chunkSize, pledgedSrcSize: length }));
  const ofData = struct({ 1: i32(rowCount), 2: PLAIN, 3: RLE, 4: RLE });
  const header = struct({ 1: i32(DATA_PAGE), 2: i32(length), 3: i32(compressed.length), 5: ofData }).bytes;
  const plainBytes = header.length + length;
  const entry = (position: number) => {
    const metadata = {
      1: i32(PHYSICAL[column.kind]),
      2: list([PLAIN, RLE]),
      3: list([binary(column.name)]),
      4: i32(ZSTD),
      5: i64(rowCount),
      6: i64(plainBytes),
      7: i64(header.length + compressed.length),
      9: i64(position),
      12: statistics(column, nullCount, range),
    };
    return struct({ 2: i64(position), 3: struct(metadata) });
  };
  return { parts: [header, compressed], plainBytes, entry };
}

function statistics({ kind }: TableColumn, nullCount: number, range: Range): ThriftValue {
  const nulls = { 3: i64(nullCount) };
  if (range === null) return struct(nulls);
  // A zero of either sign lies between these.
  const [least, greatest] = kind === "double" ? [range[0] || -0, range[1] || 0] : range;
  const bounds = [plain(kind, least), plain(kind, greatest)] as const;
  if (bounds.some(({ length }) => length > STATISTIC_BYTES_MAX)) return struct(nulls);
  return struct({ ...nulls, 5: binary(bounds[1]), 6: binary(bounds[0]) });
}

/** Parquet has no seconds. */
function inUnit({ time }: TableColumn, cells: ColumnValues): ColumnValues {
  if (time?.kind !== "timestamp" || time.unit !== "s") return cells;
  return { ...cells, values: (cells.values as BigInt64Array).map((seconds) => seconds * SECOND_MS) };
}

function plain(kind: TableColumn["kind"], value: number | bigint | string): Uint8Array {
  if (typeof value === "string") return Buffer.from(value, "latin1");
  if (typeof value === "bigint") return bytesOf(BigUint64Array.of(value));
  return bytesOf(kind === "double" ? Float64Array.of(value) : Int32Array.of(value));
}
