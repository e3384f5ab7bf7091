/**
 * Writes a Parquet or CSV file in pieces, because one COPY of DuckDB would need all rows at once. DuckDB's thread writes one
 * piece while the next one is gathered.
 */
import { readFile, rm } from "node:fs/promises";
import type { Field, RecordBatch, Schema } from "apache-arrow";
import { machineMemoryBytes } from "../../limits.ts";
import type { TimeType } from "../../panel.ts";
import { registerArrowScan } from "../arrow/arrow_scan.ts";
import { type Database, openDatabase, sqlName, sqlText } from "../duckdb/database.ts";
import { columnId } from "../duckdb/relation.ts";
import { timeTypeOf, valuesPerUnit } from "../time/arrow_time.ts";
import { COPY_FORMATS, type CopyFormat } from "./duckdb_formats.ts";
import { columnNotWritable } from "./output_errors.ts";
import type { PieceJoiner } from "./piece_joiner.ts";
import type { TableSink } from "./table_sink.ts";

/** Pieces that are written at the same time. */
const WRITERS_MAX = 2;
const WRITER_MEMORY_SHARE = 0.4;

export class CopySink implements TableSink {
  readonly #path: string;
  readonly #format: CopyFormat;
  readonly #joiner: PieceJoiner;
  readonly #openWriter: () => Promise<PieceWriter>;
  readonly #idle: IdleWriters | null;
  readonly #writers: PieceWriter[];
  #gathered: RecordBatch[] = [];
  /** Called when the batches are written. */
  #waiting: (() => void)[] = [];
  #pieceCount = 0;
  /** Resolves when all pieces so far are in the file. */
  #joined: Promise<void> = Promise.resolve();

  /** Reuses writers of an earlier file of the same columns and format. */
  static async open(
    path: string,
    format: CopyFormat,
    schema: Schema,
    idle: IdleWriters | null,
  ): Promise<CopySink> {
    const openWriter = async () => idle?.take() ?? (await PieceWriter.open(schema, format));
    const writer = await openWriter();
    try {
      return new CopySink(
        path,
        format,
        await COPY_FORMATS[format].openJoiner(path),
        writer,
        openWriter,
        idle,
      );
    } catch (error) {
      writer.close();
      throw error;
    }
  }

  private constructor(
    path: string,
    format: CopyFormat,
    joiner: PieceJoiner,
    writer: PieceWriter,
    openWriter: () => Promise<PieceWriter>,
    idle: IdleWriters | null,
  ) {
    this.#path = path;
    this.#format = format;
    this.#joiner = joiner;
    this.#writers = [writer];
    this.#openWriter = openWriter;
    this.#idle = idle;
  }

  async write(batch: RecordBatch, onWritten?: () => void): Promise<void> {
    this.#gathered.push(batch);
    if (onWritten) this.#waiting.push(onWritten);
    if (this.#gathered.length >= COPY_FORMATS[this.#format].batchesPerPiece) await this.#startPiece();
  }

  async finish(schema: Schema): Promise<void> {
    if (this.#gathered.length > 0 || this.#pieceCount === 0) await this.#startPiece();
    await this.#joined;
    await this.#joiner.finish(schema);
    if (this.#idle === null) this.#closeWriters();
    else for (const writer of this.#writers.splice(0)) this.#idle.put(writer);
  }

  async abort(): Promise<void> {
    await Promise.allSettled([this.#joined, ...this.#writers.map(({ done }) => done)]);
    await this.#joiner.abort();
    this.#closeWriters();
  }

  #closeWriters(): void {
    for (const writer of this.#writers.splice(0)) writer.close();
  }

  /** Starts to write the gathered batches as soon as a writer is free. */
  async #startPiece(): Promise<void> {
    const index = this.#pieceCount;
    this.#pieceCount += 1;
    if (index > 0 && index < WRITERS_MAX) this.#writers.push(await this.#openWriter());
    const writer = this.#writers[index % WRITERS_MAX]!;
    await writer.done;
    const piecePath = `${this.#path}.piece${index % WRITERS_MAX}`;
    const waiting = this.#waiting;
    const copied = writer.copy(this.#gathered, piecePath, index === 0).then(() => {
      for (const tell of waiting) tell();
    });
    this.#gathered = [];
    this.#waiting = [];
    writer.done = this.#join(this.#joined, copied, piecePath);
    this.#joined = writer.done;
    writer.done.catch(() => {}); // it is awaited later
  }

  /** Appends a piece to the previous ones. */
  async #join(before: Promise<void>, copied: Promise<void>, piecePath: string): Promise<void> {
    try {
      await Promise.all([before, copied]);
      await this.#joiner.add(await readFile(piecePath));
    } finally {
      await copied.catch(() => {});
      await rm(piecePath, { force: true });
    }
  }
}

/** Idle writers for the next file: starting one takes longer than writing a hundred rows. */
export class IdleWriters implements Disposable {
  readonly #writers: PieceWriter[] = [];

  take(): PieceWriter | null {
    return this.#writers.pop() ?? null;
  }

  put(writer: PieceWriter): void {
    this.#writers.push(writer);
  }

  [Symbol.dispose](): void {
    for (const writer of this.#writers.splice(0)) writer.close();
  }
}

/** A DuckDB that writes one piece at a time. */
class PieceWriter {
  /** Resolves when the last piece is in the file. */
  done: Promise<void> = Promise.resolve();
  readonly #database: Database;
  readonly #format: CopyFormat;
  readonly #selectSql: string;
  #batches: readonly RecordBatch[] = [];

  /** @throws UsageError E528 for a column that no output has. */
  static async open(schema: Schema, format: CopyFormat): Promise<PieceWriter> {
    // One thread: a second one would wait actively for the rows of the first.
    const memoryBytes = WRITER_MEMORY_SHARE * machineMemoryBytes();
    const database = await openDatabase({ memoryBytes, threads: 1 });
    try {
      return new PieceWriter(database, schema, format);
    } catch (error) {
      database[Symbol.dispose]();
      throw error;
    }
  }

  private constructor(database: Database, schema: Schema, format: CopyFormat) {
    this.#database = database;
    this.#format = format;
    const scanned = registerArrowScan(database, "arrow_rows", schema, () => this.#batches, { nulls: "null" });
    const columns = schema.fields.map((field, index) => {
      if (scanned[index] !== null) return columnSql(field, columnId(index), format);
      throw columnNotWritable(field);
    });
    this.#selectSql = `SELECT ${columns.join(", ")} FROM arrow_rows()`;
  }

  async copy(batches: readonly RecordBatch[], path: string, isFirst: boolean): Promise<void> {
    this.#batches = batches;
    const target = `${sqlText(path)} (${COPY_FORMATS[this.#format].options(isFirst)})`;
    await this.#database.connection.run(`COPY (${this.#selectSql}) TO ${target}`);
    this.#batches = [];
  }

  close(): void {
    this.#database[Symbol.dispose]();
  }
}

function columnSql(field: Field, id: string, format: CopyFormat): string {
  return `${valueSql(field, id, format)} AS ${sqlName(field.name)}`;
}

function valueSql(field: Field, id: string, format: CopyFormat): string {
  const time = timeTypeOf(field.type);
  if (time === null) return id;
  const moment = momentSql(`(${id} // ${valuesPerUnit(field.type)})`, time);
  const losesZone = time.kind === "timestamp" && time.unit === "ns" && time.timezone !== null;
  return losesZone && COPY_FORMATS[format].isText ? `${moment} || '+00'` : moment;
}

/** The date or timestamp of a BIGINT of its units since 1970; DuckDB has no zoned timestamps of nanoseconds. */
function momentSql(value: string, type: TimeType): string {
  if (type.kind === "integer") return `CAST(${value} AS ${type.bits === 32 ? "INTEGER" : "BIGINT"})`;
  if (type.kind === "date") return `DATE '1970-01-01' + CAST(${value} AS INTEGER)`;
  if (type.unit === "ns") return `make_timestamp_ns(${value})`;
  const micros = { s: `${value} * 1000000`, ms: `${value} * 1000`, us: value }[type.unit];
  const duckType =
    type.timezone === null
      ? { s: "TIMESTAMP_S", ms: "TIMESTAMP_MS", us: "TIMESTAMP" }[type.unit]
      : "TIMESTAMPTZ";
  return `CAST(make_timestamp(${micros}) AS ${duckType})`;
}
