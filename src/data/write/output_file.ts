/** A file of one of the output formats, written batch by batch. */
import { type FileHandle, open } from "node:fs/promises";
import type { RecordBatch, Schema } from "apache-arrow";
import type { ProgramOrigin } from "../../dag/fingerprints.ts";
import { UsageError } from "../../errors.ts";
import { type PendingFile, pendingFile } from "../../files/pending_file.ts";
import { writeFully } from "../../files/write_fully.ts";
import { writing } from "../../files/writing.ts";
import { arrowFileEncoder } from "../encoders/arrow_encoders.ts";
import { ParquetEncoder } from "../encoders/parquet_encoder.ts";
import type { TableEncoder } from "../encoders/table_encoder.ts";
import { csvEncoder, gzippedCsvEncoder } from "../encoders/text_encoder.ts";
import { namedSchema } from "./named_schema.ts";
import { checkNamesDiffer, checkOutputPath, type OutputFormat } from "./output_format.ts";

const ENCODERS: Readonly<Record<OutputFormat, (schema: Schema) => TableEncoder>> = {
  arrow: arrowFileEncoder,
  parquet: (schema) => new ParquetEncoder(schema),
  csv: csvEncoder,
  "csv.gz": gzippedCsvEncoder,
};

/** Parts are written together from this size on: pages of Parquet are small. */
const WRITE_BYTES = 2 ** 20;

type OnWritten = (batch: RecordBatch) => void;

/** Gets its name when it is complete. A failure leaves no file. */
export class OutputFile {
  readonly #path: string;
  readonly #format: OutputFormat;
  readonly #file: PendingFile;
  #encoder: TableEncoder | null = null;
  #origin: ProgramOrigin | undefined;
  #handle: FileHandle | null = null;
  readonly #gathered: { readonly batch: RecordBatch; readonly onWritten: OnWritten | undefined }[] = [];
  /** Resolves when the batches before these are written. They are encoded while the next ones are made. */
  #written: Promise<void> = Promise.resolve();
  #isOpen = true;

  /**
   * @param givenFormat for a path whose extension does not tell the format
   * @throws UsageError E544.
   */
  static async open(path: string, givenFormat?: OutputFormat): Promise<OutputFile> {
    const format = await checkOutputPath(path, givenFormat);
    return new OutputFile(path, format, await pendingFile(path));
  }

  private constructor(path: string, format: OutputFormat, file: PendingFile) {
    this.#path = path;
    this.#format = format;
    this.#file = file;
  }

  /**
   * Takes the columns of the table.
   *
   * @param origin of the program whose results they are, which the file names
   * @throws DataError E314, UsageError E528, ResourceError E442.
   */
  async begin(schema: Schema, origin?: ProgramOrigin): Promise<void> {
    this.#origin = origin;
    await this.#orAbort(async () => {
      const names = schema.fields.map(({ name }) => name);
      checkNamesDiffer(this.#path, this.#format, names);
      this.#encoder = ENCODERS[this.#format](namedSchema(schema, origin));
      this.#handle = await open(this.#file.temporaryPath, "w");
      await this.#append(this.#encoder.begin());
    });
  }

  /** Adds batches of the columns it has begun with. @throws ResourceError E442, and what making a batch throws. */
  async write(
    batches: Iterable<RecordBatch> | AsyncIterable<RecordBatch>,
    onWritten?: OnWritten,
  ): Promise<void> {
    await this.#orAbort(async () => {
      for await (const batch of batches) {
        this.#gathered.push({ batch, onWritten });
        if (this.#gathered.length === this.#encoder!.batchCount) await this.#encodeGathered();
      }
    });
  }

  /** Writes the end and gives the file its name. @throws ResourceError E442. */
  async commit(schema: Schema): Promise<void> {
    await this.#orAbort(async () => {
      await this.#encodeGathered();
      await this.#written;
      await this.#append(this.#encoder!.finish(namedSchema(schema, this.#origin)));
      await this.#handle!.close();
      await this.#file.commit();
    });
    this.#isOpen = false;
  }

  /** Gives up: no file stays, and one that was there before is as it was. Does nothing after `commit`. */
  async abort(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#written.catch(() => {});
    await this.#handle?.close();
    await this.#file.abort();
  }

  /** Starts to write the gathered batches once those before are written. */
  async #encodeGathered(): Promise<void> {
    const gathered = this.#gathered.splice(0);
    if (gathered.length === 0) return;
    await this.#written;
    const parts = this.#encoder!.encode(gathered.map(({ batch }) => batch));
    this.#written = this.#append(parts).then(() => {
      for (const { batch, onWritten } of gathered) onWritten?.(batch);
    });
    this.#written.catch(() => {}); // it is awaited later
  }

  async #append(parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> {
    let gathered: Uint8Array[] = [];
    let byteCount = 0;
    for await (const part of parts) {
      gathered.push(part);
      byteCount += part.length;
      if (byteCount < WRITE_BYTES) continue;
      await writeFully(this.#handle!, gathered);
      gathered = [];
      byteCount = 0;
    }
    await writeFully(this.#handle!, gathered);
  }

  async #orAbort(work: () => Promise<void>): Promise<void> {
    if (!this.#isOpen) throw writerMisused(this.#path, "is no longer open for writing");
    try {
      await writing(this.#path, work);
    } catch (error) {
      await this.abort();
      throw error;
    }
  }
}

export function writerMisused(file: string, problem: string): UsageError {
  const remedy = "open a writer for each file, write all batches of the stream, then commit";
  return new UsageError("E548", `${file} ${problem}`, remedy);
}
