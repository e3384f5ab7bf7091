/** A result that is written block by block, so that it may be larger than memory. */
import type { RecordBatch } from "apache-arrow";
import { InternalError } from "../../errors.ts";
import { type PendingFile, pendingFile } from "../../files/pending_file.ts";
import { writing } from "../../files/writing.ts";
import { type ArgumentKind, checkArgument, hasAll, PATH } from "../../text/argument_kinds.ts";
import {
  FactorBatches,
  type FactorBlock,
  type OutputColumns,
  type OutputOptions,
  outputNames,
} from "../factors/factor_batches.ts";
import type { IdleWriters } from "./copy_sink.ts";
import { openSink } from "./open_sink.ts";
import { checkOutputPath, type OutputFormat } from "./output_path.ts";
import type { TableSink } from "./table_sink.ts";

export interface FactorWriter {
  /** Adds the next rows; the block must stay as it is until the promise is fulfilled. One call at a time. */
  append(block: FactorBlock): Promise<void>;
  /** Writes the end and gives the file its name. @throws DataError E342 when `from` and `to` leave no row. */
  commit(): Promise<void>;
  /** Gives up: no file stays, and one that was there before is as it was. Does nothing after `commit`. */
  abort(): Promise<void>;
  /** Nulls, and infinities (kept or not), of each factor's column so far, by name. */
  readonly nullCounts: ReadonlyMap<string, number>;
  readonly nonFiniteCounts: ReadonlyMap<string, number>;
}

const COLUMNS: ArgumentKind = {
  what: "the columns of the result",
  fits: (given) => hasAll(given, ["time", "symbols", "factors"]),
  remedy: "give { time, symbols, factors }: those of the panel, and the names of the factors",
};

/**
 * Opens a file for a result, in the format of the path's extension. It holds the same bytes as `writeTable` writes
 * for the `factorTable` of the same values, whatever the sizes of the blocks. A failure leaves no file.
 *
 * @throws UsageError E528, E542, E543, E544, DataError E341, E343; ResourceError E442 when writing fails, here or
 *   later.
 */
export async function openFactorWriter(
  path: string,
  columns: OutputColumns,
  options: OutputOptions = {},
): Promise<FactorWriter> {
  checkArgument("openFactorWriter", path, PATH);
  checkArgument("openFactorWriter", columns, COLUMNS);
  return await openWriterOf(path, columns, options);
}

/** As `openFactorWriter`, also for a path whose extension does not tell the format, and with writers that files before left. */
export async function openWriterOf(
  path: string,
  columns: OutputColumns,
  options: OutputOptions,
  givenFormat?: OutputFormat,
  idle: IdleWriters | null = null,
): Promise<FactorWriter> {
  const batches = new FactorBatches(columns, options);
  const format = await checkOutputPath(path, outputNames(columns), givenFormat);
  const file = await pendingFile(path);
  try {
    const sink = await writing(path, () => openSink(file.temporaryPath, format, batches.schema(), idle));
    return new SinkWriter(path, file, batches, sink);
  } catch (error) {
    await file.abort();
    throw error;
  }
}

class SinkWriter implements FactorWriter {
  readonly #path: string;
  readonly #file: PendingFile;
  readonly #batches: FactorBatches;
  readonly #sink: TableSink;
  #isOpen = true;

  constructor(path: string, file: PendingFile, batches: FactorBatches, sink: TableSink) {
    this.#path = path;
    this.#file = file;
    this.#batches = batches;
    this.#sink = sink;
  }

  get nullCounts(): ReadonlyMap<string, number> {
    return this.#batches.nullCounts();
  }

  get nonFiniteCounts(): ReadonlyMap<string, number> {
    return this.#batches.nonFiniteCounts();
  }

  async append(block: FactorBlock): Promise<void> {
    await this.#orAbort(() => this.#writeAll(this.#batches.append(block)));
  }

  async commit(): Promise<void> {
    await this.#orAbort(async () => {
      await this.#writeAll(this.#batches.finish());
      await this.#sink.finish(this.#batches.schema());
      await this.#file.commit();
    });
    this.#isOpen = false;
  }

  async abort(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#sink.abort();
    await this.#file.abort();
  }

  async #writeAll(batches: Iterable<RecordBatch>): Promise<void> {
    for (const batch of batches) await this.#sink.write(batch, () => this.#batches.reuse(batch));
  }

  async #orAbort(work: () => Promise<void>): Promise<void> {
    if (!this.#isOpen) throw new InternalError(`${this.#path} is no longer open for writing`);
    try {
      await writing(this.#path, work);
    } catch (error) {
      await this.abort();
      throw error;
    }
  }
}
