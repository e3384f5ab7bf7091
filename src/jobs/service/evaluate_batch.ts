/**
 * Evaluates consecutive files as one batch, so that many small files share the cost of a commit: a checkpoint, two
 * transactions, a sync of each file.
 */
import { expectUnchanged } from "../input/input_files.ts";
import { type NewInput, type Reading, sourceOf, timeMistake } from "../input/input_source.ts";
import type { TimeDigest } from "../input/time_digests.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { StagedResults } from "../output/staged_results.ts";
import type { JobState } from "../state/job_state.ts";
import type { LaneFile } from "../state/lane_source.ts";

/** A batch ends after the file with which it reaches this many rows of results, or this much time. */
export interface BatchLimits {
  readonly rows: number;
  readonly ms: number;
}

/**
 * A commit of 101 factors over 20 symbols takes 0.2 s on a busy machine, and more with more symbols: a small part of 5 s,
 * which is what a cancelled run loses. This many rows take a few seconds to evaluate again.
 */
export const BATCH_LIMITS: BatchLimits = { rows: 100_000, ms: 5_000 };

export interface EvaluatedInput {
  readonly input: NewInput;
  /** Rows of results. */
  readonly rows: number;
  readonly digests: readonly TimeDigest[];
}

export interface BatchSpec {
  readonly state: JobState;
  readonly staged: StagedResults;
  readonly ledger: Pick<Ledger, "begin">;
  readonly limits: BatchLimits;
  readonly reading: Reading;
  /** An abort ends the batch after the files that it has begun to read. */
  readonly stop: AbortSignal;
  readonly onEvaluated: (path: string) => void;
}

export interface EvaluatedBatch {
  /** At least the first input, unless there was a failure. */
  readonly evaluated: readonly EvaluatedInput[];
  /** What went wrong, or null. State and staged results are then invalid. */
  readonly failure: unknown;
  /** Inputs that can be evaluated without it, as far as is known: it comes from one behind them. */
  readonly goodCount: number;
}

/**
 * Evaluates inputs until the batch reaches a limit, or until an input has times of another type. Inputs are read
 * while others are evaluated, and results are written.
 *
 * @throws the reason of the reading's signal.
 */
export async function evaluateBatch(inputs: readonly NewInput[], spec: BatchSpec): Promise<EvaluatedBatch> {
  const { state, staged, ledger, limits, reading, stop, onEvaluated } = spec;
  const startedMs = performance.now();
  /** Inputs whose rows are read, and how many times the batch has up to their end. */
  const read: (EvaluatedInput & { readonly endTime: number })[] = [];
  let [begunCount, rowCount] = [0, 0];
  let readFailure: unknown = null;
  function* files(): Generator<LaneFile, void, void> {
    for (const input of inputs) {
      const isFull = rowCount >= limits.rows || performance.now() - startedMs >= limits.ms;
      if (begunCount > 0 && (isFull || stop.aborted || timeMistake(input, ledger.begin!))) return;
      begunCount++;
      yield {
        path: input.file.path,
        open: () => sourceOf(input, reading),
        rowsOf: () => input.rows,
        afterRead: async (digests, rows) => {
          await expectUnchanged(input.file);
          rowCount += rows;
          read.push({ input, rows, digests, endTime: (read.at(-1)?.endTime ?? 0) + digests.length });
        },
        onFailure: (failure) => {
          readFailure = failure;
        },
      };
    }
  }
  let [doneTimes, doneCount] = [0, 0];
  const reportDone = () => {
    for (; doneCount < read.length && read[doneCount]!.endTime <= doneTimes; doneCount++)
      onEvaluated(read[doneCount]!.input.file.path);
  };
  try {
    for await (const block of state.rows(files(), reading.signal)) {
      await staged.append(block);
      doneTimes += block.rowCount;
      reportDone();
    }
    // The end of an input may be found after its last rows are evaluated.
    reportDone();
    return { evaluated: read, failure: null, goodCount: read.length };
  } catch (failure) {
    reading.signal.throwIfAborted();
    // A block has rows of several inputs: which of them fails is found out by trying fewer.
    const goodCount = failure === readFailure ? read.length : doneCount || begunCount >> 1;
    return { evaluated: [], failure, goodCount };
  }
}
