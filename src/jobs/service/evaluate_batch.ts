/**
 * Evaluates consecutive files as one batch, so that many small files share the cost of a commit: a checkpoint, two
 * records, four syncs.
 */
import { expectUnchanged } from "../input/input_files.ts";
import { checkOrder, type NewInput, type Reading, sourceOf } from "../input/new_inputs.ts";
import type { JobHistory } from "../journal/history.ts";
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
}

export interface BatchSpec {
  readonly state: JobState;
  readonly staged: StagedResults;
  readonly history: Pick<JobHistory, "begin">;
  readonly limits: BatchLimits;
  readonly reading: Reading;
  /** An abort ends the batch after the files that it has begun to read. */
  readonly stop: AbortSignal;
  readonly onEvaluated: (path: string) => void;
}

export interface EvaluatedBatch {
  /** At least the first input, unless there was a failure. */
  readonly evaluated: readonly EvaluatedInput[];
  /** `JobState.save` after them; null after a failure. */
  readonly saved: readonly Uint8Array[] | null;
  /** What went wrong, or null. State and staged results are then invalid. */
  readonly failure: unknown;
  /** Inputs that can be evaluated without it, as far as is known: it comes from one behind them. */
  readonly goodCount: number;
}

/**
 * Evaluates inputs until the batch reaches a limit, or until an input is not later than those before it. Inputs are read
 * while others are evaluated, and results are written.
 *
 * @throws the reason of the reading's signal.
 */
export async function evaluateBatch(inputs: readonly NewInput[], spec: BatchSpec): Promise<EvaluatedBatch> {
  const { state, staged, reading, onEvaluated } = spec;
  const batch = new BatchFiles(inputs, spec);
  const evaluated: EvaluatedInput[] = [];
  let doneTimes = 0;
  try {
    for await (const block of state.rows(batch, reading.signal)) {
      await staged.append(block);
      doneTimes += block.rowCount;
      while (evaluated.length < batch.read.length && batch.read[evaluated.length]!.endTime <= doneTimes) {
        const { input, rows } = batch.read[evaluated.length]!;
        evaluated.push({ input, rows });
        onEvaluated(input.file.path);
      }
    }
    return { evaluated, saved: state.save(), failure: null, goodCount: evaluated.length };
  } catch (failure) {
    reading.signal.throwIfAborted();
    // A block has rows of several inputs: which of them fails is found out by trying fewer.
    const goodCount =
      failure === batch.readFailure ? batch.read.length : evaluated.length || batch.begunCount >> 1;
    return { evaluated, saved: null, failure, goodCount };
  }
}

/** The inputs of a batch, for as long as it has room. */
class BatchFiles implements Iterable<LaneFile> {
  /** Those whose rows are read, and how many times the batch has up to their end. */
  readonly read: (EvaluatedInput & { readonly endTime: number })[] = [];
  begunCount = 0;
  /** What the reading of an input failed with. */
  readFailure: unknown = null;
  readonly #inputs: readonly NewInput[];
  readonly #spec: BatchSpec;
  readonly #startedMs = performance.now();
  #rows = 0;

  constructor(inputs: readonly NewInput[], spec: BatchSpec) {
    this.#inputs = inputs;
    this.#spec = spec;
  }

  *[Symbol.iterator](): Generator<LaneFile, void, void> {
    const { reading, stop } = this.#spec;
    for (const input of this.#inputs) {
      if (this.begunCount > 0 && (this.#isFull || stop.aborted || !this.#follows(input))) return;
      this.begunCount++;
      yield {
        path: input.file.path,
        open: () => sourceOf(input, reading),
        afterRead: async (times, rows) => {
          await expectUnchanged(input.file);
          this.#rows += rows;
          this.read.push({ input, rows, endTime: (this.read.at(-1)?.endTime ?? 0) + times });
        },
        onFailure: (failure) => {
          this.readFailure = failure;
        },
      };
    }
  }

  get #isFull(): boolean {
    const { limits } = this.#spec;
    return this.#rows >= limits.rows || performance.now() - this.#startedMs >= limits.ms;
  }

  #follows(input: NewInput): boolean {
    const { begin } = this.#spec.history;
    try {
      checkOrder(input, { begin, lastTime: this.read.at(-1)!.input.lastTime });
      return true;
    } catch {
      return false;
    }
  }
}
