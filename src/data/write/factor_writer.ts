/** Writes a result block by block. */
import {
  FactorBatches,
  type FactorBlock,
  type OutputColumns,
  type OutputOptions,
} from "../factors/factor_batches.ts";
import { OutputFile } from "./output_file.ts";
import type { OutputFormat } from "./output_format.ts";

/** Where batches go: a file or a stream. */
export type TableOutput = Pick<OutputFile, "write" | "commit" | "abort">;

export interface FactorWriter {
  /** Adds the next rows; the block must not change until the promise resolves. One call at a time. */
  append(block: FactorBlock): Promise<void>;
  /** Completes the file and renames it to its name. */
  commit(): Promise<void>;
  /** Removes the unfinished file; an earlier one stays unchanged. Does nothing after `commit`. */
  abort(): Promise<void>;
  /** Nulls, and infinities (kept or not), of each factor's column so far, by name. */
  readonly nullCounts: ReadonlyMap<string, number>;
  readonly nonFiniteCounts: ReadonlyMap<string, number>;
}

/**
 * Opens a file for a result. It holds the same bytes as `writeTable` writes for the `factorTable` of the same values,
 * whatever the sizes of the blocks. A failure leaves no file.
 *
 * @param givenFormat for a path whose extension does not tell the format
 * @throws UsageError E544, DataError E314; ResourceError E442 when writing fails, here or later.
 */
export async function openFactorWriter(
  path: string,
  columns: OutputColumns,
  options: OutputOptions = {},
  givenFormat?: OutputFormat,
): Promise<FactorWriter> {
  const batches = new FactorBatches(columns, options);
  const file = await OutputFile.open(path, givenFormat);
  await file.begin(batches.schema());
  return new BatchWriter(file, batches);
}

/** Writes the batches of blocks to an output. */
export class BatchWriter implements FactorWriter {
  readonly #output: TableOutput;
  readonly #batches: FactorBatches;

  constructor(output: TableOutput, batches: FactorBatches) {
    this.#output = output;
    this.#batches = batches;
  }

  get nullCounts(): ReadonlyMap<string, number> {
    return this.#batches.nullCounts;
  }

  get nonFiniteCounts(): ReadonlyMap<string, number> {
    return this.#batches.nonFiniteCounts;
  }

  async append(block: FactorBlock): Promise<void> {
    await this.#output.write(this.#batches.append(block), (batch) => this.#batches.reuse(batch));
  }

  async commit(): Promise<void> {
    await this.#output.write(this.#batches.finish());
    await this.#output.commit(this.#batches.schema());
  }

  async abort(): Promise<void> {
    await this.#output.abort();
  }
}
