/** The open evaluation of a job over all its symbols; state carries over from row to row. */
import { checkpointDamaged } from "../../checkpoint/errors.ts";
import { withOperators } from "../../compile.ts";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import { DataError } from "../../errors.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import { FactorStream } from "../../evaluation/factor_stream.ts";
import { inputGone } from "../errors.ts";
import { digestOfFile } from "../input/input_files.ts";
import { openInput, type Reading } from "../input/new_inputs.ts";
import type { JobStore } from "../journal/job_store.ts";
import type { ConsumedInput, PreparedRecord } from "../journal/records.ts";
import { groupsOf } from "./job_groups.ts";
import type { JobProgram } from "./job_program.ts";
import { type LaneFile, LaneSource, type LaneSourceSpec } from "./lane_source.ts";

export interface CurrentStateSpec {
  readonly host: EngineHost;
  readonly store: JobStore;
  readonly program: JobProgram;
  readonly reading: Reading;
  readonly onRebuild: (reason: string, files: number) => void;
}

const REMEDY = "raise engine.memoryLimit, or give the job fewer symbols or factors";
const LINE_END = 10;

export class JobState {
  readonly #source: LaneSource;
  readonly #stream: FactorStream;

  /**
   * The state after the last batch, for all known symbols. With new symbols, or without a valid checkpoint, it is recomputed
   * from as many rows as the formulas look back.
   *
   * @throws DataError E361 if needed input is missing or has changed; as `open`.
   */
  static async current(spec: CurrentStateSpec): Promise<JobState> {
    const { host, program, store } = spec;
    const { prepared, begin, universe } = store.history;
    const { fieldNames, groupNames, time } = begin!;
    const ownGroups = groupsOf(universe!);
    const { symbols } = universe!;
    const { seriesNames } = program;
    const lanes = { symbols, time, fieldNames, groupNames, ownGroups, seriesNames };
    const state = await JobState.open(host, program, lanes);
    try {
      if (prepared !== null) await state.#resume(spec, prepared);
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
    const options = { ...program.options, reader };
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
  rows(files: Iterable<LaneFile>, signal: AbortSignal): AsyncGenerator<FactorBlock, void, void> {
    this.#source.files = files;
    return this.#stream.rows({ start: null, first: 0, end: Number.POSITIVE_INFINITY }, signal);
  }

  /** The state for a checkpoint, in pieces: a line of JSON, then the state of the stream. */
  save(): Uint8Array[] {
    const labels = JSON.stringify(this.#source.labels);
    return [Buffer.from(`${labels}\n`), ...this.#stream.saveState()];
  }

  async close(): Promise<void> {
    await this.#stream.close();
  }

  /** Restores the checkpoint, or evaluates the inputs that the state depends on and drops the results. */
  async #resume(spec: CurrentStateSpec, { checkpoint }: PreparedRecord): Promise<void> {
    const { program, store, reading, onRebuild } = spec;
    const { universeIsNewer, consumed } = store.history;
    const reason = universeIsNewer ? "new symbols" : this.#restore(await store.readCheckpoint(checkpoint));
    if (reason === null) return;
    const needed = lastInputs([...consumed.values()], program.historyRows);
    onRebuild(reason, needed.length);
    const files = needed.map(({ path, sha256 }) => ({
      path,
      open: async () => {
        const digest = await digestOfFile(path).catch((error: NodeJS.ErrnoException) => {
          throw inputGone(path, error.code ?? error.message);
        });
        if (digest !== sha256) throw inputGone(path, "it has changed");
        return await openInput(path, reading.names, reading.open);
      },
    }));
    for await (const _ of this.rows(files, reading.signal)) reading.signal.throwIfAborted();
  }

  /** Restores a state; else says why not: nothing has changed then. */
  #restore(bytes: Uint8Array | null): string | null {
    if (bytes === null) return "the checkpoint is missing or damaged";
    try {
      const end = bytes.indexOf(LINE_END);
      const labels = parsed(bytes.subarray(0, Math.max(0, end)));
      this.#stream.restoreState(bytes.subarray(end + 1));
      this.#source.labels = labels;
      return null;
    } catch (error) {
      if (error instanceof DataError) return error.problem;
      throw error;
    }
  }
}

function parsed(line: Uint8Array): LaneSource["labels"] {
  try {
    return JSON.parse(Buffer.from(line).toString()) as LaneSource["labels"];
  } catch (cause) {
    throw checkpointDamaged("it has no header", null, { cause });
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
