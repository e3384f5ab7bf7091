/** One column of a row group of Parquet: its compressed pages, and what the footer says of them. */
import { promisify } from "node:util";
import { constants, zstdCompress } from "node:zlib";
import type { ColumnValues, TableColumn } from "../write/table_columns.ts";
import type { PageMemory, Range } from "./page_values.ts";
import { binary, bool, i32, i64, list, struct, type ThriftValue } from "./thrift.ts";

/** Numbers of https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift */
const PHYSICAL = { int32: 1, int64: 2, uint64: 2, double: 5, text: 6 } as const;
const OPTIONAL = 1;
const CONVERTED = { text: 0, date: 6, uint64: 14 } as const;
const LOGICAL = { text: 1, date: 6, timestamp: 8 } as const;
const UNITS = { s: 1, ms: 1, us: 2, ns: 3 } as const;
const PLAIN = 0;
const RLE = 3;
const DICTIONARY = 8;
const ZSTD = 6;
/** By kind of page: its number, and the field of its header. */
const PAGE = { data: [0, 5], dictionary: [2, 7] } as const;

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

export interface FinishedChunk {
  readonly parts: readonly Uint8Array[];
  /** Its entry in the footer. */
  readonly entry: ThriftValue;
  /** Its bytes before compression. */
  readonly plainBytes: number;
}

export class ColumnChunk {
  readonly #column: TableColumn;
  readonly #pages: Uint8Array[] = [];
  /** The dictionary of a column of text: positions of its texts. */
  readonly #positions = new Map<string, number>();
  #rowCount = 0;
  #nullCount = 0;
  /** Bytes of all pages before compression. */
  #plainBytes = 0;
  #range: Range<number> | Range<bigint> | null = null;

  constructor(column: TableColumn) {
    this.#column = column;
  }

  /** Adds a page, one at a time. The memory is free again when the promise resolves. */
  async add(cells: ColumnValues, rowCount: number, memory: PageMemory): Promise<void> {
    const isText = this.#column.kind === "text";
    const { bytes, nullCount, range } = isText
      ? memory.pageOfPositions(this.#positionsOf(cells, rowCount), rowCount, this.#positions.size)
      : memory.pageOf(this.#inUnit(cells), rowCount);
    const encoding = i32(isText ? DICTIONARY : PLAIN);
    const header = struct({ 1: i32(rowCount), 2: encoding, 3: i32(RLE), 4: i32(RLE) });
    this.#pages.push(...(await this.#page("data", header, bytes)));
    this.#rowCount += rowCount;
    this.#nullCount += nullCount;
    this.#range = joined(this.#range, range);
  }

  /** The chunk, which begins at this position of the file. */
  async finish(position: number): Promise<FinishedChunk> {
    const labels = [...this.#positions.keys()].map((text) => Buffer.from(text));
    const dictionary = this.#column.kind === "text" ? await this.#dictionaryPage(labels) : [];
    const parts = [...dictionary, ...this.#pages];
    const isText = dictionary.length > 0;
    const metadata = {
      1: i32(PHYSICAL[this.#column.kind]),
      2: list((isText ? [PLAIN, RLE, DICTIONARY] : [PLAIN, RLE]).map(i32)),
      3: list([binary(this.#column.name)]),
      4: i32(ZSTD),
      5: i64(this.#rowCount),
      6: i64(this.#plainBytes),
      7: i64(byteCountOf(parts)),
      9: i64(position + byteCountOf(dictionary)),
      11: isText ? i64(position) : undefined,
      12: this.#statistics(labels),
    };
    return { parts, entry: struct({ 2: i64(position), 3: struct(metadata) }), plainBytes: this.#plainBytes };
  }

  #positionsOf({ values, labels }: ColumnValues, rowCount: number): Int32Array {
    const positionOf = new Int32Array(labels.length).fill(-1);
    const positions = new Int32Array(rowCount).fill(-1);
    for (let row = 0; row < rowCount; row += 1) {
      const code = values[row] as number;
      if (code === -1) continue;
      if (positionOf[code] === -1) {
        const label = labels[code]!;
        if (!this.#positions.has(label)) this.#positions.set(label, this.#positions.size);
        positionOf[code] = this.#positions.get(label)!;
      }
      positions[row] = positionOf[code]!;
    }
    return positions;
  }

  /** Parquet has no seconds. */
  #inUnit(cells: ColumnValues): ColumnValues {
    const { time } = this.#column;
    if (time?.kind !== "timestamp" || time.unit !== "s") return cells;
    const seconds = cells.values as BigInt64Array;
    return { ...cells, values: seconds.map((value) => value * SECOND_MS) };
  }

  async #dictionaryPage(labels: readonly Uint8Array[]): Promise<Uint8Array[]> {
    const header = struct({ 1: i32(labels.length), 2: i32(PLAIN) });
    return await this.#page(
      "dictionary",
      header,
      Buffer.concat(labels.flatMap((label) => [uint32(label.length), label])),
    );
  }

  /** The header of the page and its compressed bytes. */
  async #page(kind: keyof typeof PAGE, ofKind: ThriftValue, bytes: Uint8Array): Promise<Uint8Array[]> {
    const { length } = bytes;
    // With its size known, and an output in one piece, zstd takes half of the time.
    const chunkSize = length + (length >> 7) + constants.Z_MIN_CHUNK + 512;
    const compressed = new Uint8Array(await compress(bytes, { chunkSize, pledgedSrcSize: length }));
    const [type, field] = PAGE[kind];
    const header = struct({ 1: i32(type), 2: i32(length), 3: i32(compressed.length), [field]: ofKind }).bytes;
    this.#plainBytes += header.length + length;
    return [header, compressed];
  }

  #statistics(labels: readonly Uint8Array[]): ThriftValue {
    const nulls = { 3: i64(this.#nullCount) };
    const range = this.#column.kind === "text" ? rangeOfTexts(labels) : this.#rangeOfNumbers();
    if (range === null) return struct(nulls);
    return struct({ ...nulls, 5: binary(range[1]), 6: binary(range[0]) });
  }

  #rangeOfNumbers(): Range<Uint8Array> | null {
    if (this.#range === null) return null;
    const [least, greatest] = this.#range;
    const { kind } = this.#column;
    if (kind === "double") {
      // A zero of either sign lies between these.
      return [plain(new Float64Array(1), least || -0), plain(new Float64Array(1), greatest || 0)];
    }
    const memory = () => (kind === "int32" ? new Int32Array(1) : new BigInt64Array(1));
    return [plain(memory(), least), plain(memory(), greatest)];
  }
}

/** In the order of their bytes; null if one is long. */
function rangeOfTexts(labels: readonly Uint8Array[]): Range<Uint8Array> | null {
  if (labels.length === 0 || labels.some(({ length }) => length > STATISTIC_BYTES_MAX)) return null;
  const sorted = labels.toSorted(Buffer.compare);
  return [sorted[0]!, sorted.at(-1)!];
}

function joined<T extends Range<number> | Range<bigint>>(first: T | null, second: T | null): T | null {
  if (first === null || second === null) return first ?? second;
  const least = second[0] < first[0] ? second[0] : first[0];
  return [least, second[1] > first[1] ? second[1] : first[1]] as unknown as T;
}

function plain(memory: Float64Array | Int32Array | BigInt64Array, value: number | bigint): Uint8Array {
  memory[0] = value as never;
  return new Uint8Array(memory.buffer);
}

function uint32(value: number): Uint8Array {
  return new Uint8Array(Uint32Array.of(value).buffer);
}

function byteCountOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}
