/** The open plans of a job over all its symbols; state carries over from row to row. */
import { builtInRegistry } from "../../../operators/index.ts";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import { type EngineHost, Evaluation, type PlanBuffers } from "../../evaluation/evaluation.ts";
import { BLOCK_ROWS_BEST } from "../../evaluation/fit_plan.ts";
import type { RestartFinder } from "../../evaluation/restarts.ts";
import { sharedColumn } from "../../evaluation/shared_columns.ts";
import type { GroupColumn } from "../../panel.ts";
import { expectColumns } from "../input/new_inputs.ts";
import { packJobState, unpackJobState } from "./checkpoint_file.ts";
import type { JobProgram } from "./job_programs.ts";
import { LaneInput } from "./lane_input.ts";

export interface JobStateSpec {
  readonly host: EngineHost;
  readonly programs: readonly JobProgram[];
  /** The lanes, in code-unit order. */
  readonly symbols: readonly string[];
  readonly ownGroups: ReadonlyMap<string, GroupColumn>;
  /** Null if windows may reach back over the start of a session. */
  readonly restarts: RestartFinder | null;
}

export class JobState {
  readonly symbols: readonly string[];
  readonly #programs: readonly JobProgram[];
  /** One per program; null if none of its factors is selected. */
  readonly #evaluations: readonly (Evaluation | null)[];
  readonly #input: LaneInput;
  readonly #blockRows: number;
  readonly #restarts: RestartFinder | null;
  /** The state before the first row, for session starts. */
  readonly #pristine: readonly Uint8Array[];

  /** @throws ResourceError E401 if it does not fit in memory, E403, E404 as the pool. */
  static async open(spec: JobStateSpec): Promise<JobState> {
    const { programs, symbols, ownGroups } = spec;
    const names = (of: (program: JobProgram) => readonly string[]) => [...new Set(programs.flatMap(of))];
    const fields = names(({ read }) => read.fields);
    const groups = names(({ read }) => read.groups);
    const input = new LaneInput({ symbols, rowCount: BLOCK_ROWS_BEST, fields, groups, ownGroups });
    const evaluations: (Evaluation | null)[] = [];
    try {
      for (const program of programs) evaluations.push(await openProgram(spec, program, input));
    } catch (error) {
      await Promise.all(evaluations.map((evaluation) => evaluation?.close()));
      throw error;
    }
    return new JobState(spec, evaluations, input);
  }

  private constructor(spec: JobStateSpec, evaluations: readonly (Evaluation | null)[], input: LaneInput) {
    this.symbols = spec.symbols;
    this.#programs = spec.programs;
    this.#evaluations = evaluations;
    this.#input = input;
    this.#restarts = spec.restarts;
    this.#blockRows = Math.min(
      BLOCK_ROWS_BEST,
      ...evaluations.map((one) => one?.plan.blockRows ?? BLOCK_ROWS_BEST),
    );
    this.#pristine = spec.restarts === null ? [] : this.#checkpoints();
  }

  /**
   * Evaluates all rows of a file. Blocks are views of buffers that the next block overwrites.
   *
   * @throws DataError E366 if the file lacks a column, and as `Evaluation.run` and the source; the state is then invalid.
   */
  async *evaluate(
    file: string,
    source: PanelSource,
    signal: AbortSignal,
  ): AsyncGenerator<FactorBlock, void, void> {
    const lanes = this.#input.lanesOf(source.symbols);
    const { fieldNames: fields, groupNames: groups } = this.#input;
    expectColumns(file, source, { fields, groups });
    for await (const block of source.blocks({ fields, groups, blockRows: this.#blockRows, signal })) {
      const starts = this.#restarts?.rowsOf(block.times.subarray(0, block.rowCount)) ?? [];
      for (let row = 0; row < block.rowCount; ) {
        if (starts.includes(row)) this.#restart();
        const end = starts.find((start) => start > row) ?? block.rowCount;
        this.#input.stage(block, lanes, row, end);
        yield await this.#run(end - row, signal);
        row = end;
      }
    }
  }

  /** Saves the state for `restore`. */
  pack(): Uint8Array[] {
    return packJobState({
      labels: this.#input.labels,
      lastStretch: this.#restarts?.last ?? null,
      checkpoints: this.#checkpoints(),
    });
  }

  /** @throws DataError E351 for a damaged state, E352 for one of other plans. */
  restore(bytes: Uint8Array): void {
    const { labels, lastStretch, checkpoints } = unpackJobState(bytes);
    this.#restoreAll(checkpoints);
    this.#input.labels = labels;
    if (this.#restarts) this.#restarts.last = lastStretch;
  }

  async close(): Promise<void> {
    await Promise.all(this.#evaluations.map((evaluation) => evaluation?.close()));
  }

  async #run(rowCount: number, signal: AbortSignal): Promise<FactorBlock> {
    const block = { rowCount, inputRow: 0, outputRow: 0 };
    await Promise.all(this.#evaluations.map((evaluation) => evaluation?.run(block, signal)));
    const cellCount = rowCount * this.symbols.length;
    const columns = this.#programs.flatMap(({ wanted }, index) => {
      const results = this.#evaluations[index]?.buffers.results;
      return wanted.factors.map(({ name, output }) => {
        const values = output === null ? null : (results?.[output]?.subarray(0, cellCount) ?? null);
        return [name, values] as const;
      });
    });
    const { times, present } = this.#input;
    return {
      rowCount,
      times: times.subarray(0, rowCount),
      present: present.subarray(0, cellCount),
      columns: new Map(columns),
    };
  }

  /** Resets windows and recurrences to the state before the first row. */
  #restart(): void {
    this.#restoreAll(this.#pristine);
  }

  #checkpoints(): Uint8Array[] {
    return this.#evaluations.flatMap((evaluation) => (evaluation ? [evaluation.openPlan.checkpoint()] : []));
  }

  #restoreAll(checkpoints: readonly Uint8Array[]): void {
    const open = this.#evaluations.filter((evaluation) => evaluation !== null);
    open.forEach((evaluation, index) => {
      evaluation.openPlan.restore(checkpoints[index] ?? new Uint8Array(0));
    });
  }
}

async function openProgram(
  { host, symbols }: JobStateSpec,
  { program, wanted, read, params }: JobProgram,
  input: LaneInput,
): Promise<Evaluation | null> {
  const { dag } = wanted;
  if (dag.outputs.length === 0) return null;
  const laneCount = symbols.length;
  const rowBytes = laneCount * (8 * read.fields.length + 4 * read.groups.length + 9);
  return await Evaluation.open<PlanBuffers>(host, {
    dag,
    laneCount,
    rowCount: BLOCK_ROWS_BEST,
    registry: builtInRegistry.with(program.operators),
    operators: program.operators,
    disabledPasses: program.disabledPasses,
    memoryNeed: (rows) => ({
      bytes: { input: BLOCK_ROWS_BEST * rowBytes, results: 8 * rows * laneCount * dag.outputs.length },
      held: [],
      remedy: "raise engine.memoryLimit, or give the job fewer symbols or factors",
    }),
    allocate: (rows) => ({
      fields: input.fields,
      groups: input.groups,
      params,
      results: dag.outputs.map(() => sharedColumn(rows * laneCount)),
    }),
  });
}
