/** Writes a result to a stream, such as stdout, as it comes. */
import type { Writable } from "node:stream";
import { type RecordBatch, RecordBatchStreamWriter } from "apache-arrow";
import {
  FactorBatches,
  type FactorBlock,
  type OutputColumns,
  type OutputOptions,
  outputNames,
} from "../factors/factor_batches.ts";
import { formatTime } from "../time/time_text.ts";
import type { FactorWriter } from "./factor_writer.ts";
import type { StreamFormat } from "./stream_formats.ts";

/**
 * Opens a stream for a result. Numbers are written in the fewest digits that give the same double; times as texts, in the
 * Arrow stream in their own type. A stream that its reader has closed, or whose disk is full, takes no more: the values are
 * still counted.
 *
 * @throws DataError E341 when a factor has the name of a key column; later E342 when there is no row.
 */
export function openStreamWriter(
  stream: Writable,
  format: StreamFormat,
  columns: OutputColumns,
  options: OutputOptions = {},
): FactorWriter {
  const batches = new FactorBatches(columns, options);
  const encoder = format === "arrow" ? new ArrowEncoder() : new TextEncoderOf(columns, format);
  return new StreamWriter(stream, batches, encoder);
}

interface Encoder {
  begin(batches: FactorBatches): Iterable<Uint8Array | string>;
  encode(batch: RecordBatch): Iterable<Uint8Array | string>;
  finish(): Iterable<Uint8Array | string>;
}

class StreamWriter implements FactorWriter {
  readonly #stream: Writable;
  readonly #batches: FactorBatches;
  readonly #encoder: Encoder;
  #hasBegun = false;
  /** After a failure nothing is written: on a disk that was full for a moment the result would have a hole. */
  #hasFailed = false;

  constructor(stream: Writable, batches: FactorBatches, encoder: Encoder) {
    this.#stream = stream;
    this.#batches = batches;
    this.#encoder = encoder;
  }

  get nullCounts(): ReadonlyMap<string, number> {
    return this.#batches.nullCounts();
  }

  get nonFiniteCounts(): ReadonlyMap<string, number> {
    return this.#batches.nonFiniteCounts();
  }

  async append(block: FactorBlock): Promise<void> {
    await this.#begin();
    for await (const batch of this.#batches.append(block)) await this.#writeBatch(batch);
  }

  async commit(): Promise<void> {
    await this.#begin();
    for await (const batch of this.#batches.finish()) await this.#writeBatch(batch);
    await this.#write(this.#encoder.finish());
  }

  async abort(): Promise<void> {}

  async #begin(): Promise<void> {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    await this.#write(this.#encoder.begin(this.#batches));
  }

  async #writeBatch(batch: RecordBatch): Promise<void> {
    await this.#write(this.#encoder.encode(batch));
    this.#batches.reuse(batch);
  }

  async #write(chunks: Iterable<Uint8Array | string>): Promise<void> {
    for (const chunk of chunks) {
      if (this.#hasFailed) return;
      const failure = await new Promise<Error | null | undefined>((resolve) => {
        this.#stream.write(chunk, resolve);
      });
      if (failure) this.#hasFailed = true;
    }
  }
}

/** Collects the bytes of the library's writer. */
class StreamParts extends RecordBatchStreamWriter {
  readonly #parts: Uint8Array[] = [];

  takeParts(): Uint8Array[] {
    return this.#parts.splice(0);
  }

  protected override _write(chunk: ArrayBufferView): this {
    if (!this._started || chunk.byteLength === 0) return this;
    // Copied: columns of a batch are used again.
    this.#parts.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength).slice());
    this._position += chunk.byteLength;
    return this;
  }
}

class ArrowEncoder implements Encoder {
  readonly #writer = new StreamParts();

  begin(batches: FactorBatches): Uint8Array[] {
    this.#writer.reset(undefined, batches.schema());
    return this.#writer.takeParts();
  }

  encode(batch: RecordBatch): Uint8Array[] {
    this.#writer.write(batch);
    return this.#writer.takeParts();
  }

  finish(): Uint8Array[] {
    this.#writer.finish();
    return this.#writer.takeParts();
  }
}

/** Rows of a chunk of text. */
const CHUNK_ROWS = 1024;

class TextEncoderOf implements Encoder {
  readonly #columns: OutputColumns;
  readonly #isJson: boolean;
  readonly #names: readonly string[];
  /** Of symbols, as they stand in a line. */
  readonly #symbols: readonly string[];

  constructor(columns: OutputColumns, format: "csv" | "jsonl") {
    this.#columns = columns;
    this.#isJson = format === "jsonl";
    this.#names = outputNames(columns);
    this.#symbols = columns.symbols.map((symbol) =>
      this.#isJson ? JSON.stringify(symbol) : csvText(symbol),
    );
  }

  begin(): string[] {
    return this.#isJson ? [] : [`${this.#names.map(csvText).join(",")}\n`];
  }

  *encode(batch: RecordBatch): Generator<string> {
    for (let first = 0; first < batch.numRows; first += CHUNK_ROWS) {
      const end = Math.min(batch.numRows, first + CHUNK_ROWS);
      let text = "";
      for (let row = first; row < end; row++) text += this.#line(batch, row);
      yield text;
    }
  }

  finish(): string[] {
    return [];
  }

  #line(batch: RecordBatch, row: number): string {
    const { type } = this.#columns.time;
    const time = formatTime(this.#timeOf(batch, row), type);
    const lane = (batch.data.children[1]!.values as Int32Array)[row]!;
    const cells = [
      this.#isJson && type.kind !== "integer" ? JSON.stringify(time) : time,
      this.#symbols[lane]!,
    ];
    for (let i = 2; i < this.#names.length; i++) cells.push(this.#number(batch.getChildAt(i)!.get(row)));
    if (!this.#isJson) return `${cells.join(",")}\n`;
    return `{${cells.map((cell, i) => `${JSON.stringify(this.#names[i])}:${cell}`).join(",")}}\n`;
  }

  #timeOf(batch: RecordBatch, row: number): bigint {
    return BigInt((batch.data.children[0]!.values as BigInt64Array | Int32Array)[row]!);
  }

  /** JSON has no infinities: they are texts there. */
  #number(value: number | null): string {
    if (value === null) return this.#isJson ? "null" : "";
    if (Object.is(value, -0)) return "-0.0";
    if (Number.isFinite(value)) return String(value);
    const text = value > 0 ? "inf" : "-inf";
    return this.#isJson ? JSON.stringify(text) : text;
  }
}

/** A field of CSV, quoted where it must be. */
function csvText(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
