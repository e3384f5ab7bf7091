/** Parquet, row group by row group: only compressed pages are kept until their row group is complete. */
import { availableParallelism } from "node:os";
import type { RecordBatch, Schema } from "apache-arrow";
import { ARROW_SCHEMA_KEY, encodeSchema } from "../arrow/arrow_schema_text.ts";
import { type TableColumn, tableColumns } from "../write/table_columns.ts";
import type { TableEncoder } from "../write/table_encoder.ts";
import { ColumnChunk, schemaElement } from "./column_chunk.ts";
import { PageMemory } from "./page_values.ts";
import { binary, i32, i64, list, struct, type ThriftValue } from "./thrift.ts";

const MAGIC = Buffer.from("PAR1");
/** Batches of results are not longer; those of other tables may be. */
const PAGE_ROWS_MAX = 65_536;
/** Pages of a column in a row group: larger row groups are read faster. */
const PAGES_PER_GROUP = 2;
/** Pages that are compressed at the same time, by threads of Node, of which there are four. */
const PAGES_AT_ONCE = Math.min(4, availableParallelism());

export class ParquetEncoder implements TableEncoder {
  readonly #columns: readonly TableColumn[];
  readonly #memories = Array.from({ length: PAGES_AT_ONCE }, () => new PageMemory());
  /** Of the current row group. */
  #chunks: readonly ColumnChunk[];
  #pageCount = 0;
  #pageRows = 0;
  /** Entries of the footer, encoded. */
  readonly #groups: ThriftValue[] = [];
  #rowCount = 0;
  /** Bytes of the file so far. */
  #position = MAGIC.length;

  /** @throws UsageError E528 for a column that Parquet cannot hold. */
  constructor(schema: Schema) {
    this.#columns = tableColumns(schema);
    this.#chunks = this.#columns.map((column) => new ColumnChunk(column));
  }

  begin(): Uint8Array[] {
    return [MAGIC];
  }

  async *encode(batch: RecordBatch): AsyncGenerator<Uint8Array> {
    for (let first = 0; first < batch.numRows; first += PAGE_ROWS_MAX) {
      await this.#addPages(batch.numRows > PAGE_ROWS_MAX ? batch.slice(first, first + PAGE_ROWS_MAX) : batch);
      if (this.#pageCount === PAGES_PER_GROUP) yield* this.#finishGroup();
    }
  }

  async *finish(schema: Schema): AsyncGenerator<Uint8Array> {
    yield* this.#finishGroup();
    const root = struct({ 4: binary("schema"), 5: i32(this.#columns.length) });
    const arrowSchema = struct({ 1: binary(ARROW_SCHEMA_KEY), 2: binary(encodeSchema(schema)) });
    const { bytes } = struct({
      1: i32(1),
      2: list([root, ...this.#columns.map(schemaElement)]),
      3: i64(this.#rowCount),
      4: list(this.#groups),
      5: list([arrowSchema]),
      6: binary("factorloom"),
      // The order of values in statistics is that of their type.
      7: list(this.#columns.map(() => struct({ 1: struct({}) }))),
    });
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    yield* [bytes, length, MAGIC];
  }

  /** Adds a page to each column. */
  async #addPages({ numRows, data }: RecordBatch): Promise<void> {
    const columns = this.#columns.entries();
    await Promise.all(
      this.#memories.map(async (memory) => {
        for (const [index, column] of columns)
          await this.#chunks[index]!.add(column.valuesOf(data.children[index]!), numRows, memory);
      }),
    );
    this.#pageCount += 1;
    this.#pageRows += numRows;
  }

  async *#finishGroup(): AsyncGenerator<Uint8Array> {
    if (this.#pageCount === 0) return;
    const start = this.#position;
    const entries: ThriftValue[] = [];
    let plainBytes = 0;
    for (const chunk of this.#chunks) {
      const finished = await chunk.finish(this.#position);
      entries.push(finished.entry);
      plainBytes += finished.plainBytes;
      for (const part of finished.parts) this.#position += part.length;
      yield* finished.parts;
    }
    const group = {
      1: list(entries),
      2: i64(plainBytes),
      3: i64(this.#pageRows),
      5: i64(start),
      6: i64(this.#position - start),
    };
    this.#groups.push(struct(group));
    this.#rowCount += this.#pageRows;
    this.#chunks = this.#columns.map((column) => new ColumnChunk(column));
    this.#pageCount = 0;
    this.#pageRows = 0;
  }
}
