/** A file of one of the output formats, written batch by batch. */
import type { RecordBatch, Schema } from "apache-arrow";
import { type PendingFile, pendingFile } from "../../files/pending_file.ts";
import { writing } from "../../files/writing.ts";
import { ArrowSink } from "./arrow_sink.ts";
import { CopySink, type IdleWriters } from "./copy_sink.ts";
import { writerMisused } from "./output_errors.ts";
import { checkNamesDiffer, checkOutputPath, type OutputFormat } from "./output_format.ts";
import type { TableSink } from "./table_sink.ts";

/** Gets its name when it is complete. A failure leaves no file. */
export class OutputFile {
  readonly #path: string;
  readonly #format: OutputFormat;
  readonly #file: PendingFile;
  readonly #idle: IdleWriters | null;
  #sink: TableSink | null = null;
  #isOpen = true;

  /**
   * @param givenFormat for a path whose extension does not tell the format
   * @param idle writers that files before left
   * @throws UsageError E542, E543, E544.
   */
  static async open(
    path: string,
    givenFormat?: OutputFormat,
    idle: IdleWriters | null = null,
  ): Promise<OutputFile> {
    const format = await checkOutputPath(path, givenFormat);
    return new OutputFile(path, format, await pendingFile(path), idle);
  }

  private constructor(path: string, format: OutputFormat, file: PendingFile, idle: IdleWriters | null) {
    this.#path = path;
    this.#format = format;
    this.#file = file;
    this.#idle = idle;
  }

  /** Takes the columns of the table. @throws DataError E343, ResourceError E442. */
  async begin(schema: Schema): Promise<void> {
    await this.#orAbort(async () => {
      const names = schema.fields.map(({ name }) => name);
      checkNamesDiffer(this.#path, this.#format, names);
      const { temporaryPath: path } = this.#file;
      this.#sink =
        this.#format === "arrow"
          ? await ArrowSink.open(path, schema)
          : await CopySink.open(path, this.#format, schema, this.#idle);
    });
  }

  /** Adds batches of the columns it has begun with. @throws ResourceError E442, and what making a batch throws. */
  async write(
    batches: Iterable<RecordBatch> | AsyncIterable<RecordBatch>,
    onWritten?: (batch: RecordBatch) => void,
  ): Promise<void> {
    await this.#orAbort(async () => {
      for await (const batch of batches) await this.#sink!.write(batch, () => onWritten?.(batch));
    });
  }

  /** Writes the end and gives the file its name. @throws ResourceError E442. */
  async commit(schema: Schema): Promise<void> {
    await this.#orAbort(async () => {
      await this.#sink!.finish(schema);
      await this.#file.commit();
    });
    this.#isOpen = false;
  }

  /** Gives up: no file stays, and one that was there before is as it was. Does nothing after `commit`. */
  async abort(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#sink?.abort();
    await this.#file.abort();
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
