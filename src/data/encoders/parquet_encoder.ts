/** Parquet, row group by row group: only compressed pages are kept until their row group is complete. */
import { type RecordBatch, Schema } from "apache-arrow";
import { ARROW_SCHEMA_KEY, encodeSchema } from "../arrow/arrow_schema_text.ts";
import { type ColumnChunk, columnChunk, schemaElement } from "./column_chunk.ts";
import { bytesOf } from "./page_values.ts";
import { type TableColumn, tableColumns } from "./table_columns.ts";
import type { TableEncoder } from "./table_encoder.ts";
import { binary, i32, i64, list, struct, type ThriftValue } from "./thrift.ts";

const MAGIC = Buffer.from("PAR1");
/** Rows of a row group: two batches of results are not longer; those of other tables may be. */
const GROUP_ROWS_MAX = 131_072;
/** Pages that are under way: Node compresses four at a time, and others wait where a larger one is before them. */
const PAGES_AT_ONCE = 6;

/** Each call of `encode` gives a row group, of one page a column. */
export class ParquetEncoder implements TableEncoder {
  /** Larger row groups are read faster. */
  readonly batchCount = 2;
  readonly #columns: readonly TableColumn[];
  /** Entries of the footer. */
  readonly #groups: ThriftValue[] = [];
  #rowCount = 0;
  /** Bytes of the file so far. */
  #position = MAGIC.length;

  /** @throws UsageError E528 for a column that Parquet cannot hold. */
  constructor(schema: Schema) {
    this.#columns = tableColumns(schema);
  }

  begin(): Uint8Array[] {
    return [MAGIC];
  }

  async *encode(batches: readonly RecordBatch[]): AsyncGenerator<Uint8Array> {
    const rowCount = batches.reduce((sum, { numRows }) => sum + numRows, 0);
    if (rowCount > GROUP_ROWS_MAX && batches.length > 1)
      for (const batch of batches) yield* this.encode([batch]);
    else if (rowCount > GROUP_ROWS_MAX)
      for (let first = 0; first < rowCount; first += GROUP_ROWS_MAX)
        yield* this.encode([batches[0]!.slice(first, first + GROUP_ROWS_MAX)]);
    else yield* this.#group(batches, rowCount);
  }

  *finish(schema: Schema): Generator<Uint8Array> {
    const root = struct({ 4: binary("schema"), 5: i32(this.#columns.length) });
    const arrowSchema = encodeSchema(new Schema(schema.fields));
    const entries = [...schema.metadata, [ARROW_SCHEMA_KEY, arrowSchema] as const];
    const { bytes } = struct({
      1: i32(1),
      2: list([root, ...this.#columns.map(schemaElement)]),
      3: i64(this.#rowCount),
      4: list(this.#groups),
      5: list(entries.map(([key, value]) => struct({ 1: binary(key), 2: binary(value) }))),
      6: binary("factorloom"),
      // Statistics are in the order of each column's type.
      7: list(this.#columns.map(() => struct({ 1: struct({}) }))),
    });
    yield* [bytes, bytesOf(Uint32Array.of(bytes.length)), MAGIC];
  }

  async *#group(batches: readonly RecordBatch[], rowCount: number): AsyncGenerator<Uint8Array> {
    const start = this.#position;
    const entries: ThriftValue[] = [];
    let plainBytes = 0;
    for await (const chunk of this.#chunks(batches)) {
      entries.push(chunk.entry(this.#position));
      plainBytes += chunk.plainBytes;
      for (const part of chunk.parts) this.#position += part.length;
      yield* chunk.parts;
    }
    const size = i64(this.#position - start);
    this.#groups.push(
      struct({ 1: list(entries), 2: i64(plainBytes), 3: i64(rowCount), 5: i64(start), 6: size }),
    );
    this.#rowCount += rowCount;
  }

  /** The chunks of the columns in their order, some of which are encoded ahead. */
  async *#chunks(batches: readonly RecordBatch[]): AsyncGenerator<ColumnChunk> {
    const begun: Promise<ColumnChunk>[] = [];
    for (const [index, column] of this.#columns.entries()) {
      const values = batches.map(({ data }) => column.valuesOf(data.children[index]!));
      const chunk = columnChunk(column, values);
      chunk.catch(() => {}); // it is awaited later
      begun.push(chunk);
      if (begun.length === PAGES_AT_ONCE) yield await begun.shift()!;
    }
    for (const chunk of begun) yield await chunk;
  }
}
