/** Opens the state of a job after its last batch: from its checkpoint, or else recomputed from the input. */
import type { OpenDatabase } from "../../data/duckdb/database.ts";
import { describeTimeType } from "../../data/time/time_text.ts";
import { DataError } from "../../errors.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import { RestartFinder } from "../../evaluation/restarts.ts";
import type { GroupColumn } from "../../panel.ts";
import { type JobConfig, sessionsOf } from "../config/config.ts";
import { inputGone, noSessionTimes } from "../errors.ts";
import { digestOfFile } from "../input/input_files.ts";
import { openInput } from "../input/new_inputs.ts";
import type { JobStore } from "../journal/job_store.ts";
import type { ConsumedInput, PreparedRecord } from "../journal/records.ts";
import { historyRows, type JobProgram } from "./job_programs.ts";
import { JobState } from "./job_state.ts";

export interface CurrentStateSpec {
  readonly job: JobConfig;
  readonly host: EngineHost;
  readonly store: JobStore;
  readonly programs: readonly JobProgram[];
  readonly ownGroups: ReadonlyMap<string, GroupColumn>;
  readonly open: OpenDatabase;
  readonly signal: AbortSignal;
  readonly onRebuild: (reason: string, files: number) => void;
}

/**
 * Opens the state after the last batch, for all known symbols. With new symbols, or without a valid checkpoint, it is
 * recomputed from as many rows as the formulas look back.
 *
 * @throws DataError E363 if needed input is missing or has changed, UsageError E539 if sessions need times of day; as
 *   `JobState.open`.
 */
export async function openCurrentState(spec: CurrentStateSpec): Promise<JobState> {
  const { prepared, universeIsNewer } = spec.store.history;
  if (prepared === null) return await newState(spec);
  let reason = "new symbols";
  if (!universeIsNewer) {
    const restored = await restoredState(spec, prepared.checkpoint);
    if (typeof restored !== "string") return restored;
    reason = restored;
  }
  const state = await newState(spec);
  try {
    await rebuild(state, spec, reason);
    return state;
  } catch (error) {
    await state.close();
    throw error;
  }
}

async function newState({ job, host, store, programs, ownGroups }: CurrentStateSpec): Promise<JobState> {
  const { type } = store.history.begin!.time;
  const { symbols } = store.history.universe!;
  const { crossSession, schedule, name } = job;
  let restarts: RestartFinder | null = null;
  if (!crossSession) {
    if (type.kind !== "timestamp") throw noSessionTimes(name, describeTimeType(type));
    restarts = await RestartFinder.of(sessionsOf(schedule), type);
  }
  return await JobState.open({ host, programs, symbols, ownGroups, restarts });
}

/** The state of a checkpoint, or why it cannot be used. */
async function restoredState(
  spec: CurrentStateSpec,
  checkpoint: PreparedRecord["checkpoint"],
): Promise<JobState | string> {
  const bytes = await spec.store.readCheckpoint(checkpoint);
  if (bytes === null) return "the checkpoint is missing or damaged";
  const state = await newState(spec);
  try {
    state.restore(bytes);
    return state;
  } catch (error) {
    // Some of its plans may have been restored.
    await state.close();
    if (!(error instanceof DataError)) throw error;
    return error.problem;
  }
}

/** Evaluates the inputs that the state depends on and drops the results. */
async function rebuild(
  state: JobState,
  { job, store, programs, open, signal, onRebuild }: CurrentStateSpec,
  reason: string,
): Promise<void> {
  const needed = lastInputs(store.history.consumed, historyRows(programs));
  onRebuild(reason, needed.length);
  for (const { path, sha256 } of needed) {
    const digest = await digestOfFile(path).catch((error: NodeJS.ErrnoException) => {
      throw inputGone(path, error.code ?? error.message);
    });
    if (digest !== sha256) throw inputGone(path, "it has changed");
    const source = await openInput(path, job.source, open);
    try {
      for await (const _ of state.evaluate(path, source, signal)) signal.throwIfAborted();
    } finally {
      await source.close();
    }
  }
}

/** The last inputs that together have at least `rows` rows. */
function lastInputs(inputs: readonly ConsumedInput[], rows: number): readonly ConsumedInput[] {
  let count = 0;
  const first = inputs.findLastIndex(({ rowCount }) => {
    count += rowCount;
    return count >= rows;
  });
  return inputs.slice(Math.max(0, first));
}
