/** The open evaluation of a job over all its symbols; state carries over from row to row. */
import type { WrittenFolder } from "../../checkpoint/write_checkpoint.ts";
import { withOperators } from "../../compile.ts";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import { DataError } from "../../errors.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import { FactorStream, type SavedStream } from "../../evaluation/factor_stream.ts";
import type { Reading } from "../input/input_source.ts";
import type { JobStore } from "../ledger/job_store.ts";
import type { Batch, PreparedBatch } from "../ledger/records.ts";
import { columnsOf, historyOf } from "./history.ts";
import { LaneGroups } from "./job_groups.ts";
import type { JobProgram } from "./job_program.ts";
import { type LaneFile, LaneSource, type LaneSourceSpec } from "./lane_source.ts";

export interface CurrentStateSpec {
  readonly host: EngineHost;
  readonly store: JobStore;
  readonly program: JobProgram;
  readonly reading: Reading;
  readonly onRebuild: (reason: string, files: number) => void;
}

/** What a job says of itself in a checkpoint, beside rows and points. */
interface SavedJob extends SavedStream {
  /** Of the lanes, before the one that is absent in all rows. */
  readonly symbols: readonly string[];
  readonly labels: LaneSource["labels"];
}

const REMEDY = "raise engine.memoryLimit, or give the job fewer symbols or factors";

export class JobState {
  readonly #source: LaneSource;
  readonly #stream: FactorStream;
  /** The last checkpoint of these lanes. */
  #written: WrittenFolder | undefined;

  /**
   * The state after the last batch, for all known symbols. Without a valid checkpoint it is recomputed from the files of as
   * many rows as the formulas look back.
   *
   * @throws DataError E361 if needed input is missing or has changed; as `open`.
   */
  static async current(spec: CurrentStateSpec): Promise<JobState> {
    const { host, program, store } = spec;
    const { batch, begin, universe } = store.ledger;
    const { fieldNames, groupNames, time } = begin!;
    const ownGroups = new LaneGroups(universe!.groups);
    const { symbols } = universe!;
    const { seriesNames } = program;
    const { digested } = columnsOf(store.ledger, program);
    const lanes = { symbols, time, fieldNames, groupNames, ownGroups, seriesNames, digested };
    const state = await JobState.open(host, program, lanes);
    try {
      if (batch !== null) await state.#resume(spec, batch);
      return state;
    } catch (error) {
      await state.close();
      throw error;
    }
  }

  /** @throws ResourceError E401 if it does not fit in memory, E403, E404 as the pool. */
  static async open(host: EngineHost, program: JobProgram, lanes: LaneSourceSpec): Promise<JobState> {
    const source = new LaneSource(lanes);
    const registry = withOperators(program.program.operators);
    const reader = () => ({ remedy: REMEDY });
    const options = { ...program.options, reader, keepsHistory: true };
    const stream = await FactorStream.open(host, registry, program.program, source, options);
    return new JobState(source, stream);
  }

  private constructor(source: LaneSource, stream: FactorStream) {
    this.#source = source;
    this.#stream = stream;
  }

  /**
   * Evaluates all rows of files. Blocks are views of buffers that the next block overwrites.
   *
   * @throws as `FactorStream.rows` and `LaneSource.blocks`; the state is then invalid.
   */
  async *rows(files: Iterable<LaneFile>, signal: AbortSignal): AsyncGenerator<FactorBlock, void, void> {
    this.#source.files = files;
    const all = { start: null, first: 0, end: Number.POSITIVE_INFINITY };
    for await (const block of this.#stream.rows(all, signal))
      yield withoutAbsentLane(block, this.#source.laneCount);
  }

  /** Writes the checkpoint of a batch. @throws ResourceError E442 */
  async save(store: JobStore, sequence: number): Promise<NonNullable<PreparedBatch["checkpoint"]>> {
    const { symbols, labels } = this.#source;
    const { release, ...snapshot } = await this.#stream.save();
    const description: SavedJob = { ...snapshot.description, symbols, labels };
    this.#written = await store.writeCheckpoint(sequence, { ...snapshot, description }, this.#written);
    release();
    return { file: this.#written.stateFile, sha256: this.#written.digest };
  }

  async close(): Promise<void> {
    await this.#stream.close();
  }

  /** Restores the checkpoint, or evaluates the inputs that the state depends on and drops the results. */
  async #resume(spec: CurrentStateSpec, { checkpoint }: Batch): Promise<void> {
    const { program, store, reading, onRebuild } = spec;
    const reason = await this.#restore(store, checkpoint, reading.signal);
    if (reason === null) return;
    const { times, lastTime, begin } = store.ledger;
    const first = times.before(lastTime! + 1n, program.historyRows);
    onRebuild(reason, times.countFiles(first));
    const needed = historyOf(times.from(first), { reading, type: begin!.time.type, isVerified: true });
    for await (const _ of this.rows(needed, reading.signal)) reading.signal.throwIfAborted();
  }

  /** Restores a state; else says why not: nothing has changed then. */
  async #restore(
    store: JobStore,
    checkpoint: Batch["checkpoint"],
    signal: AbortSignal,
  ): Promise<string | null> {
    if (checkpoint === null) return "the results were made again";
    const stored = await store.readCheckpoint<SavedJob>(checkpoint).catch((error) => {
      if (error instanceof DataError) return error;
      throw error;
    });
    if (stored instanceof DataError) return stored.problem;
    const { symbols, ownGroups } = this.#source;
    const { symbols: before, labels } = stored.description;
    // New symbols have been absent in all rows, as the last lane was.
    const laneBefore = new Map(before.map((symbol, lane) => [symbol, lane]));
    const from = symbols.map((symbol) => laneBefore.get(symbol) ?? before.length);
    const lanes = { from: Int32Array.from([...from, before.length]), groupsAt: ownGroups.at.bind(ownGroups) };
    if (!(await this.#stream.restore(stored, lanes, signal)))
      return "the kept rows do not suffice for the factors that are wanted now";
    this.#source.labels = labels;
    if (symbols.length === before.length) this.#written = stored.written;
    return null;
  }
}

/** The block for the symbols alone: the values of the last lane are overwritten. */
function withoutAbsentLane(
  { rowCount, times, present, columns }: FactorBlock,
  laneCount: number,
): FactorBlock {
  const dropLast = <T extends Float64Array | Uint8Array>(values: T): T => {
    for (let row = 1; row < rowCount; row++)
      values.copyWithin(row * (laneCount - 1), row * laneCount, (row + 1) * laneCount - 1);
    return values.subarray(0, rowCount * (laneCount - 1)) as T;
  };
  return {
    rowCount,
    times,
    present: dropLast(present),
    columns: new Map([...columns].map(([name, values]) => [name, values && dropLast(values)])),
  };
}
