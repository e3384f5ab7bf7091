/** Writes blocks of a result as batches. */
import type { FactorBatches, FactorBlock } from "../factors/factor_batches.ts";
import type { OutputFile } from "./output_file.ts";

/** Where batches go: a file or a stream. */
export type TableOutput = Pick<OutputFile, "write" | "commit" | "abort">;

/** The counts are those so far. */
export interface FactorWriter extends Pick<FactorBatches, "nullCounts" | "nonFiniteCounts"> {
  /** Adds the next rows; the block must not change until the promise resolves. One call at a time. */
  append(block: FactorBlock): Promise<void>;
  /** Completes the file and renames it to its name. */
  commit(): Promise<void>;
  /** Removes the unfinished file; an earlier one stays unchanged. Does nothing after `commit`. */
  abort(): Promise<void>;
}

/** Writes the batches of blocks to an output. */
export function batchWriter(output: TableOutput, batches: FactorBatches): FactorWriter {
  return {
    append: (block) => output.write(batches.append(block), (batch) => batches.reuse(batch)),
    commit: async () => {
      await output.write(batches.finish());
      await output.commit(batches.schema());
    },
    abort: () => output.abort(),
    get nullCounts() {
      return batches.nullCounts;
    },
    get nonFiniteCounts() {
      return batches.nonFiniteCounts;
    },
  };
}
