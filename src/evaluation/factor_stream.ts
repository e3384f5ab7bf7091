import type { EvaluableProgram } from "../compile.ts";
import type { Dag } from "../dag/dag.ts";
import type { FactorBlock } from "../data/factors/factor_batches.ts";
import type { PanelBlock, PanelSource, RowRange } from "../data/panel/panel_source.ts";
import { OVERLAPPING_BLOCKS_MAX } from "../execution/executor_pool.ts";
import type { Registry } from "../operator/registry.ts";
import type { CallOrder } from "../schedule/call_order.ts";
import { settlesBefore, suppressUnhandled } from "./awaiting.ts";
import { type EngineHost, Evaluation, type PlanBuffers } from "./evaluation.ts";
import { BLOCK_ROWS_BEST } from "./fit_plan.ts";
import { broughtFields } from "./has_row.ts";
import type { MemoryBudget } from "./memory/memory_budget.ts";
import type { EvaluateOptions } from "./options.ts";
import { type ConditionalGraph, conditionalGraph, type PreparedCall, prepareCall } from "./prepared_call.ts";
import { RestartFinder } from "./restarts.ts";
import { sharedColumn } from "./shared_columns.ts";
import { type StagedBlock, StagedInput } from "./staged_input.ts";
import type { WantedFactors } from "./wanted_factors.ts";

export interface StreamOptions extends EvaluateOptions {
  /** Memory of whoever reads the blocks, in bytes by purpose. */
  readonly readerBytes?: Readonly<Record<string, number>>;
}

/**
 * Panel rows `[first, end)`, computed from `start` on: `start <= first <= end`, and `end` not behind that of the call. Null:
 * they follow the rows before.
 */
export interface RowsWithHistory extends RowRange {
  readonly start: number | null;
}

interface StreamBuffers extends PlanBuffers {
  readonly input: StagedInput;
  /** Space for two blocks: one is computed while the other is read. */
  readonly results: readonly Float64Array<SharedArrayBuffer>[];
}

const REMEDY =
  "raise the memory limit, or evaluate fewer symbols or factors at once, or fewer rows at a time (blockRows, --block-rows)";

/** An evaluation that reads its input and yields its output block by block: bounded memory for panels of any length. */
export class FactorStream {
  /** Null if no factor is wanted. */
  readonly evaluation: Evaluation<StreamBuffers> | null;
  readonly wanted: WantedFactors;
  readonly #budget: MemoryBudget;
  readonly #source: PanelSource;
  readonly #options: EvaluateOptions;
  readonly #call: PreparedCall;
  readonly #graph: ConditionalGraph;
  readonly #input: StagedInput;
  readonly #restarts: RestartFinder | null;
  #hasBegun = false;

  /** @throws as `Engine.stream`. */
  static async open(
    host: EngineHost,
    registry: Registry,
    program: EvaluableProgram,
    source: PanelSource,
    options: StreamOptions,
  ): Promise<FactorStream> {
    const order = host.pool.nextCall(options.priority);
    const call = await prepareCall(registry, program, source, options);
    const numbered = { ...call, order };
    const graph = conditionalGraph(program, call);
    const restarts = options.restarts && (await RestartFinder.of(options.restarts, source.time.type));
    const evaluation = await openEvaluation(host, registry, program, source, numbered, graph.dag, options);
    return new FactorStream(host.budget, evaluation, source, call, graph, restarts ?? null, options);
  }

  private constructor(
    budget: MemoryBudget,
    evaluation: Evaluation<StreamBuffers> | null,
    source: PanelSource,
    call: PreparedCall,
    graph: ConditionalGraph,
    restarts: RestartFinder | null,
    options: EvaluateOptions,
  ) {
    this.#budget = budget;
    this.#graph = graph;
    this.evaluation = evaluation;
    this.wanted = call.wanted;
    this.#source = source;
    this.#options = options;
    this.#call = call;
    this.#restarts = restarts;
    this.#input = evaluation?.buffers.input ?? new StagedInput(call, BLOCK_ROWS_BEST, source.laneCount);
  }

  /** The panel rows that the call's options name. */
  get range(): RowRange {
    return this.#call.range;
  }

  /** Rows at which history begins again. */
  get restartRows(): readonly number[] {
    return this.#call.restartRows;
  }

  /**
   * Runs the source's rows and yields those of the range, as views of buffers that the next block overwrites. Closes
   * everything that was opened, however it ends.
   */
  blocks(): AsyncGenerator<FactorBlock, void, void> {
    return this.#blocksOf({ start: 0, ...this.range }, true);
  }

  /**
   * The same for some rows, as if there were none before `start`, or after those before. Closes nothing: other rows may
   * follow, one call after the other. Where it fails or is aborted, the caller closes the stream.
   */
  rows(wanted: RowsWithHistory): AsyncGenerator<FactorBlock, void, void> {
    return this.#blocksOf(wanted, false);
  }

  async *#blocksOf(
    { start, first, end }: RowsWithHistory,
    isWhole: boolean,
  ): AsyncGenerator<FactorBlock, void, void> {
    if (first === end && !isWhole) return;
    const { read: columns } = this.#call;
    const [fields, groups] = [broughtFields(columns.fields), columns.groups];
    const { signal, onProgress } = this.#options;
    const { blockRows } = this.#input;
    const rows = isWhole ? undefined : { first: start ?? first, end };
    const read = this.#source.blocks({ fields, groups, blockRows, rows, signal })[Symbol.asyncIterator]();
    const readNext = () => suppressUnhandled(this.#budget.whileBusy(() => read.next()));
    const underWay: { readonly staged: StagedBlock; readonly running: Promise<void> }[] = [];
    // A caller that aborts may never request another block.
    const close = () => void this.evaluation?.close(signal?.reason);
    if (isWhole) signal?.addEventListener("abort", close);
    try {
      let reading: Promise<IteratorResult<PanelBlock>> | null = readNext();
      await this.#startAt(start, first);
      for (;;) {
        const oldest = underWay[0];
        // Blocks overlap: a block's space is reused once its results have been read.
        const hasRoom = underWay.length < OVERLAPPING_BLOCKS_MAX;
        if (reading && hasRoom && (!oldest || (await settlesBefore(reading, oldest.running)))) {
          const staged = this.#stage(await reading);
          if (staged) underWay.push({ staged, running: suppressUnhandled(this.#run(staged)) });
          const isLast: boolean = !staged || staged.firstRow + staged.rowCount >= end;
          reading = isLast ? null : readNext();
        } else if (oldest) {
          await oldest.running;
          underWay.shift();
          const doneRow = oldest.staged.firstRow + oldest.staged.rowCount;
          onProgress?.(Math.min(end, doneRow), this.range.end);
          const results = this.#results(oldest.staged, { first, end });
          if (results) yield results;
        } else return;
      }
    } finally {
      signal?.removeEventListener("abort", close);
      if (isWhole) await this.close();
      await read.return?.();
    }
  }

  /** The row of the next block, without any history or after that of before. */
  async #startAt(start: number | null, first: number): Promise<void> {
    if (this.#hasBegun && start !== null) await this.evaluation?.restart();
    this.#hasBegun = true;
    this.#input.startAt(start ?? first);
    if (this.#restarts === null || start === null) return;
    const stretch = this.restartRows.findLast((restart) => restart <= start) ?? 0;
    this.#restarts.last = null;
    this.#restarts.rowsOf(this.#source.time.values.subarray(stretch, stretch + 1));
  }

  /** What `restoreState` needs to go on after the rows that were read to their end: views of memory that later rows change. */
  saveState(): Uint8Array[] {
    const stretch = new Float64Array([this.#restarts?.last ?? Number.NaN]);
    return [new Uint8Array(stretch.buffer), ...(this.evaluation?.openPlan.checkpointPieces() ?? [])];
  }

  /**
   * Goes on where another stream of the same program, options and symbols was when it saved its state: with `rows` that
   * start nowhere.
   *
   * @throws DataError E351 for damaged bytes, E352 for those of another program; nothing has changed then.
   */
  restoreState(state: Uint8Array): void {
    const header = Float64Array.BYTES_PER_ELEMENT;
    this.evaluation?.openPlan.restore(state.subarray(header));
    const [stretch = Number.NaN] = new Float64Array(state.slice(0, header).buffer);
    if (this.#restarts) this.#restarts.last = Number.isNaN(stretch) ? null : stretch;
    this.#hasBegun = true;
  }

  /** Releases the memory; for a stream whose blocks were not all read. May be called twice. */
  async close(): Promise<void> {
    await this.evaluation?.close();
  }

  #stage(next: IteratorResult<PanelBlock>): StagedBlock | null {
    return next.done ? null : this.#input.stage(next.value);
  }

  /** Runs the rows of a block, those from a restart on as if none came before. */
  async #run({ stagedRow, rowCount, times }: StagedBlock): Promise<void> {
    const { signal } = this.#options;
    signal?.throwIfAborted();
    if (!this.evaluation) return;
    const restarts = this.#restarts?.rowsOf(times) ?? [];
    const running: Promise<void>[] = [];
    for (let row = 0; row < rowCount; ) {
      if (restarts.includes(row)) running.push(this.evaluation.restart());
      const end = restarts.find((restart) => restart > row) ?? rowCount;
      const rows = { rowCount: end - row, inputRow: stagedRow + row, outputRow: stagedRow + row };
      const conditions = this.#graph.conditionsIn(times.subarray(row, end));
      running.push(this.evaluation.run(rows, signal, conditions));
      row = end;
    }
    await Promise.all(running);
  }

  /** The rows of a block within the range; null if there are none. */
  #results(
    { firstRow, rowCount, stagedRow, times, present }: StagedBlock,
    range: RowRange,
  ): FactorBlock | null {
    const { params } = this.#call;
    const { laneCount } = this.#source;
    const first = Math.max(0, range.first - firstRow);
    const end = Math.min(rowCount, range.end - firstRow);
    if (first >= end) return null;
    const setsOfRows = params.setsAt(times.subarray(first, end));
    const columns = this.wanted.factors.map(({ name, condition, output }) => {
      const column = output === null ? null : this.evaluation?.buffers.results[output];
      if (!column) return [name, null] as const;
      const values = column.subarray((stagedRow + first) * laneCount, (stagedRow + end) * laneCount);
      params.nullInactive(values, condition, setsOfRows);
      return [name, values] as const;
    });
    return {
      rowCount: end - first,
      times: times.subarray(first, end),
      present: present.subarray(first * laneCount, end * laneCount),
      columns: new Map(columns),
    };
  }
}

async function openEvaluation(
  host: EngineHost,
  registry: Registry,
  { operators, disabledPasses }: EvaluableProgram,
  { laneCount }: PanelSource,
  call: PreparedCall & { readonly order: CallOrder },
  dag: Dag,
  { blockRows, kernel, signal, readerBytes }: StreamOptions,
): Promise<Evaluation<StreamBuffers> | null> {
  if (dag.outputs.length === 0 || laneCount === 0) return null;
  return await Evaluation.open<StreamBuffers>(host, {
    dag,
    laneCount,
    rowCount: call.range.end,
    registry,
    operators,
    blockRows,
    kernel,
    disabledPasses,
    order: call.order,
    signal,
    memoryNeed: (rows) => ({
      bytes: {
        input: StagedInput.bytesOf(call.read, rows, laneCount),
        results:
          OVERLAPPING_BLOCKS_MAX * rows * laneCount * Float64Array.BYTES_PER_ELEMENT * dag.outputs.length,
        ...readerBytes,
      },
      held: [],
      remedy: REMEDY,
    }),
    allocate: (rows) => {
      const input = new StagedInput(call, rows, laneCount);
      const results = dag.outputs.map(() => sharedColumn(OVERLAPPING_BLOCKS_MAX * rows * laneCount));
      return { ...input.buffers, input, results };
    },
  });
}
