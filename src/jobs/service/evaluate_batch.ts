/**
 * Evaluates consecutive files as one batch, so that many small files share the cost of a commit: a checkpoint, two
 * records, four syncs.
 */
import { expectUnchanged } from "../input/input_files.ts";
import { checkOrder, type NewInput, type Reading, sourceOf } from "../input/new_inputs.ts";
import type { JobHistory } from "../journal/history.ts";
import type { StagedResults } from "../output/staged_results.ts";
import type { JobState } from "../state/job_state.ts";

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
  readonly history: Pick<JobHistory, "begin" | "lastTime">;
  readonly limits: BatchLimits;
  readonly reading: Reading;
  /** An abort ends the batch after the current file. */
  readonly stop: AbortSignal;
  readonly onEvaluated: (path: string) => void;
}

export interface EvaluatedBatch {
  /** At least the first input, unless it failed. */
  readonly evaluated: readonly EvaluatedInput[];
  /** The error of the next input, or null. State and staged results are invalid after an error. */
  readonly failure: unknown;
}

/**
 * Evaluates inputs until the batch reaches a limit, or until an input is not later than those before it.
 *
 * @throws the reason of the reading's signal.
 */
export async function evaluateBatch(inputs: readonly NewInput[], spec: BatchSpec): Promise<EvaluatedBatch> {
  const { staged, limits, reading, stop, onEvaluated } = spec;
  const evaluated: EvaluatedInput[] = [];
  const startedMs = performance.now();
  const isFull = () => staged.rows >= limits.rows || performance.now() - startedMs >= limits.ms;
  for (const input of inputs) {
    if (evaluated.length > 0 && (isFull() || stop.aborted || !follows(input, evaluated.at(-1)!, spec))) break;
    const rowsBefore = staged.rows;
    try {
      await evaluate(input, spec);
    } catch (failure) {
      reading.signal.throwIfAborted();
      return { evaluated, failure };
    }
    evaluated.push({ input, rows: staged.rows - rowsBefore });
    onEvaluated(input.file.path);
  }
  return { evaluated, failure: null };
}

function follows(input: NewInput, last: EvaluatedInput, { history: { begin } }: BatchSpec): boolean {
  try {
    checkOrder(input, { begin, lastTime: last.input.lastTime });
    return true;
  } catch {
    return false;
  }
}

async function evaluate(input: NewInput, { state, staged, reading }: BatchSpec): Promise<void> {
  const { path } = input.file;
  const source = await sourceOf(input, reading);
  try {
    for await (const block of state.evaluate(path, source, reading.signal)) await staged.append(block);
    await expectUnchanged(input.file);
  } finally {
    await source.close();
  }
}
