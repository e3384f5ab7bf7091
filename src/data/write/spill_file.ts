/** Columns of doubles on disk: record batches of an Arrow IPC file, each identified by its position. */
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Field, Float64, makeData, RecordBatch, RecordBatchReader, Schema, Struct } from "apache-arrow";
import { isSystemError } from "../../files/system_error.ts";
import { writeFully } from "../../files/write_fully.ts";
import { encodeSchemaMessage } from "../arrow/arrow_file.ts";
import { FileParts } from "../encoders/arrow_encoders.ts";
import { spillFailed } from "../errors.ts";

/** Position of a column in its file, in bytes. */
export interface SpilledColumn {
  readonly start: number;
  readonly byteLength: number;
}

/** Nulls are NaN as in every column, so that only values are stored. */
const TYPE = new Float64();
const SCHEMA = new Schema([new Field("values", TYPE, false)]);
const ROW_TYPE = new Struct(SCHEMA.fields);
const SCHEMA_MESSAGE = encodeSchemaMessage(SCHEMA);

export class SpillFile {
  readonly #handle: FileHandle;
  readonly #writer: FileParts;
  #byteCount = 0;
  /** Columns are written one after the other. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  /**
   * Opens a file in a new folder (mode 0700) in the system's folder for temporary files, and unlinks both at once: the bytes
   * exist as long as this handle, however the process ends.
   *
   * @throws ResourceError E444 if that folder cannot be written.
   */
  static async open(): Promise<SpillFile> {
    return await spilling(async () => {
      const folder = await mkdtemp(join(tmpdir(), "factorloom-spill-"));
      try {
        return await SpillFile.#start(await open(join(folder, "columns.arrow"), "wx+", 0o600));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }

  static async #start(handle: FileHandle): Promise<SpillFile> {
    try {
      const writer = new FileParts();
      writer.reset(undefined, SCHEMA);
      const file = new SpillFile(handle, writer);
      await file.#writeParts();
      return file;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  private constructor(handle: FileHandle, writer: FileParts) {
    this.#handle = handle;
    this.#writer = writer;
  }

  /** Appends the values, every bit of them. @throws ResourceError E444, for example if the disk is full. */
  async write(values: Float64Array): Promise<SpilledColumn> {
    const written = this.#lastWrite.then(() => spilling(() => this.#append(values)));
    this.#lastWrite = written.catch(() => {});
    return await written;
  }

  /** @throws ResourceError E444 if the file cannot be read. */
  async read({ start, byteLength }: SpilledColumn): Promise<Float64Array> {
    const headBytes = SCHEMA_MESSAGE.byteLength;
    const bytes = Buffer.from(new ArrayBuffer(headBytes + byteLength)); // Node's pool lacks the 8-byte alignment
    bytes.set(SCHEMA_MESSAGE);
    await spilling(() => readFully(this.#handle, bytes.subarray(headBytes), start));
    const [batch] = RecordBatchReader.from(bytes);
    return batch!.getChildAt(0)!.data[0]!.values;
  }

  /** Frees the disk; waits for current reads and writes. */
  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #append(values: Float64Array): Promise<SpilledColumn> {
    const { length } = values;
    const column = makeData({ type: TYPE, length, nullCount: 0, data: values });
    this.#writer.write(
      new RecordBatch(SCHEMA, makeData({ type: ROW_TYPE, length, nullCount: 0, children: [column] })),
    );
    const start = this.#byteCount;
    return { start, byteLength: await this.#writeParts() };
  }

  async #writeParts(): Promise<number> {
    const parts = this.#writer.takeParts();
    await writeFully(this.#handle, parts, this.#byteCount);
    const byteLength = parts.reduce((sum, part) => sum + part.byteLength, 0);
    this.#byteCount += byteLength;
    return byteLength;
  }
}

async function readFully(handle: FileHandle, bytes: Buffer, start: number): Promise<void> {
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, start + filled);
    if (bytesRead === 0) throw spillFailed(tmpdir(), "a file ends too early");
    filled += bytesRead;
  }
}

/** @throws ResourceError E444 for an error of the system. */
async function spilling<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw isSystemError(cause) ? spillFailed(tmpdir(), cause.code!, cause) : cause;
  }
}
