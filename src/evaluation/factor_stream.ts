import type { Checkpoint, Snapshot } from "../checkpoint/state_file.ts";
import type { EvaluableProgram } from "../compile.ts";
import type { Dag } from "../dag/dag.ts";
import type { FactorBlock } from "../data/factors/factor_batches.ts";
import type { PanelBlock, PanelSource, RowRange } from "../data/panel/panel_source.ts";
import { OVERLAPPING_BLOCKS_MAX } from "../execution/executor_pool.ts";
import type { Registry } from "../operator/registry.ts";
import type { CallOrder } from "../schedule/call_order.ts";
import { type HeldRows, RetainedRows } from "../state/retained_rows.ts";
import { blocksOfRows, type RestoredLanes, StreamHistory } from "../state/stream_history.ts";
import { Pauses } from "../steps.ts";
import { settlesBefore, suppressUnhandled } from "./awaiting.ts";
import { type BlockInput, hasColumns, type PlacedBlock, rowOfBlock } from "./block_input.ts";
import { type EngineHost, Evaluation, type PlanBuffers } from "./evaluation.ts";
import { BLOCK_ROWS_BEST } from "./fit_plan.ts";
import { broughtFields } from "./has_row.ts";
import type { MemoryBudget } from "./memory/memory_budget.ts";
import type { MemoryNeed } from "./memory/memory_need.ts";
import type { EvaluateOptions } from "./options.ts";
import { type ConditionalGraph, conditionalGraph, type PreparedCall, prepareCall } from "./prepared_call.ts";
import { sharedColumns } from "./shared_columns.ts";
import { inputFor, StagedInput } from "./staged_input.ts";
import type { WantedFactors } from "./wanted_factors.ts";

export interface StreamOptions extends EvaluateOptions {
  /** What whoever reads the blocks needs beside the stream. */
  readonly reader?: (call: PreparedCall) => Partial<MemoryNeed>;
  /** Keeps what `save` gives: the last rows of input, and points of recurrences. Default false. */
  readonly keepsHistory?: boolean;
}

/** What a stream says of itself in a checkpoint, beside rows and points. */
export interface SavedStream {
  /** The stretch between restarts of the last row (`RestartFinder.last`). */
  readonly stretch: number | null;
}

/** A call that is ready to run. */
export interface OrderedCall extends PreparedCall {
  readonly order: CallOrder;
  /** Whether it waits for room until other calls have ended. Default true. */
  readonly waits?: boolean;
}

/** What a stream needs of a program. */
type StreamProgram = Pick<EvaluableProgram, "operators" | "disabledPasses">;

/**
 * Panel rows `[first, end)`, computed from `start` on: `start <= first <= end`, and `end` not behind that of the call. Null:
 * they follow the rows before.
 */
export interface RowsWithHistory extends RowRange {
  readonly start: number | null;
}

interface StreamBuffers extends PlanBuffers {
  readonly input: BlockInput;
  /** Space for a few blocks: some are computed while the oldest is read. */
  readonly results: readonly Float64Array<SharedArrayBuffer>[];
}

const REMEDY =
  "raise the memory limit, or evaluate fewer symbols or factors at once, or fewer rows at a time (blockRows, --block-rows)";

/** An evaluation that reads its input and yields its output block by block: bounded memory for panels of any length. */
export class FactorStream {
  /** Null if no factor is wanted, or there is no cell. */
  readonly evaluation: Evaluation<StreamBuffers> | null;
  readonly wanted: WantedFactors;
  readonly #budget: MemoryBudget;
  readonly #source: PanelSource;
  readonly #options: EvaluateOptions;
  readonly #call: PreparedCall;
  readonly #graph: ConditionalGraph;
  readonly #input: BlockInput;
  readonly #history: StreamHistory | null;
  /** Rows of the largest block, and blocks that input and results have space for. */
  readonly #blockRows: number;
  readonly #spaces: number;
  #blockCount = 0;
  #nextRow = 0;
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
    const pauses = new Pauses();
    const call = await prepareCall(registry, program, source, options);
    await pauses.afterStep();
    return await FactorStream.openCall(host, registry, program, source, { ...call, order }, options);
  }

  /** The same for a call that is prepared: of its options only those matter that change no value. */
  static async openCall(
    host: EngineHost,
    registry: Registry,
    program: StreamProgram,
    source: PanelSource,
    call: OrderedCall,
    options: StreamOptions,
  ): Promise<FactorStream> {
    const graph = conditionalGraph(program, call);
    const evaluation = await openEvaluation(host, registry, program, source, call, graph.dag, options);
    const history =
      evaluation && options.keepsHistory
        ? new StreamHistory(evaluation.recurrentPlan(registry), graph.dag, evaluation.recurrences(registry))
        : null;
    return new FactorStream(host.budget, evaluation, history, source, call, graph, options);
  }

  private constructor(
    budget: MemoryBudget,
    evaluation: Evaluation<StreamBuffers> | null,
    history: StreamHistory | null,
    source: PanelSource,
    call: PreparedCall,
    graph: ConditionalGraph,
    options: StreamOptions,
  ) {
    this.#budget = budget;
    this.#graph = graph;
    this.evaluation = evaluation;
    this.#history = history;
    this.wanted = call.wanted;
    this.#source = source;
    this.#options = options;
    this.#call = call;
    this.#blockRows = evaluation?.plan.blockRows ?? BLOCK_ROWS_BEST;
    this.#spaces = spacesFor(call, this.#blockRows);
    this.#input = evaluation?.buffers.input ?? inputOf(source, call, this.#blockRows, options).open();
  }

  /** The panel rows that the call's options name. */
  get range(): RowRange {
    return this.#call.range;
  }

  /** Rows at which history begins again. */
  get restartRows(): readonly number[] {
    return this.#call.restarts?.rows ?? [];
  }

  /**
   * Runs the source's rows and yields those of the range, as views of buffers that the next block overwrites.
   *
   * @param closes closes everything that was opened, however it ends; else the caller closes the stream. Default true
   */
  blocks(closes = true): AsyncGenerator<FactorBlock, void, void> {
    return this.#blocksOf({ start: 0, ...this.range }, this.#options.signal, true, closes);
  }

  /**
   * The same for some rows, as if there were none before `start`, or after those before. Closes nothing: other rows may
   * follow, one call after the other. Where it fails or is aborted, the caller closes the stream.
   *
   * @param signal ends these rows; default: that of the options
   */
  rows(wanted: RowsWithHistory, signal = this.#options.signal): AsyncGenerator<FactorBlock, void, void> {
    return this.#blocksOf(wanted, signal, false, false);
  }

  async *#blocksOf(
    { start, first, end }: RowsWithHistory,
    signal: AbortSignal | undefined,
    isWhole: boolean,
    closes: boolean,
  ): AsyncGenerator<FactorBlock, void, void> {
    if (first === end && !isWhole) return;
    const { read: columns } = this.#call;
    const [fields, groups] = [broughtFields(columns.fields), columns.groups];
    const { onProgress } = this.#options;
    const blockRows = this.#blockRows;
    const rows = isWhole ? undefined : { first: start ?? first, end };
    const source = this.#source.blocks({ fields, groups, blockRows, rows, signal });
    // A caller that aborts may never request another block.
    const close = () => void this.evaluation?.close(signal?.reason);
    if (isWhole) signal?.addEventListener("abort", close);
    try {
      yield* this.#resultsOf(source, { start, first, end }, signal, onProgress);
    } finally {
      signal?.removeEventListener("abort", close);
      if (closes) await this.close();
    }
  }

  /** Runs the blocks of a source; each is in a space of its own until its results have been read. */
  async *#resultsOf(
    source: AsyncIterable<PanelBlock>,
    { start, first, end }: RowsWithHistory,
    signal: AbortSignal | undefined,
    onProgress?: StreamOptions["onProgress"],
  ): AsyncGenerator<FactorBlock, void, void> {
    const read = source[Symbol.asyncIterator]();
    const readNext = () => suppressUnhandled(this.#budget.whileBusy(() => read.next()));
    const underWay: { readonly block: PlacedBlock; readonly running: Promise<void> }[] = [];
    try {
      let reading: Promise<IteratorResult<PanelBlock>> | null = readNext();
      await this.#startAt(start, first);
      for (;;) {
        const oldest = underWay[0];
        // Blocks overlap: a block's space is reused once its results have been read.
        const hasRoom = underWay.length < this.#spaces;
        if (reading && hasRoom && (!oldest || (await settlesBefore(reading, oldest.running)))) {
          const block = this.#place(await reading);
          if (block) underWay.push({ block, running: suppressUnhandled(this.#run(block, signal)) });
          const isLast: boolean = !block || block.firstRow + block.rowCount >= end;
          reading = isLast ? null : readNext();
        } else if (oldest) {
          await oldest.running;
          underWay.shift();
          const doneRow = oldest.block.firstRow + oldest.block.rowCount;
          onProgress?.(Math.min(end, doneRow), this.range.end);
          const results = this.#results(oldest.block, { first, end });
          if (results) yield results;
        } else return;
      }
    } finally {
      await read.return?.();
    }
  }

  /** The row of the next block, without any history or after that of before. */
  async #startAt(start: number | null, first: number): Promise<void> {
    if (this.#hasBegun && start !== null) await this.evaluation?.restart();
    this.#hasBegun = true;
    this.#nextRow = start ?? first;
    if (start !== null) this.#call.restarts?.beginAt(start);
  }

  /** What `restore` needs to go on after the rows that were read to their end; for a stream with `keepsHistory`. */
  async save(): Promise<Snapshot<SavedStream> & Pick<HeldRows, "release">> {
    const { laneCount } = this.#source;
    const description = { stretch: this.#call.restarts?.last ?? null };
    // A stream that computes nothing keeps nothing.
    const held =
      (await this.#history?.hold()) ?? new RetainedRows({ rows: 0, pointRows: 1 }, laneCount).hold([]);
    return { ...held, description, lanes: laneCount, laneCount };
  }

  /**
   * Goes on where another stream was when it saved its state: runs the kept rows again. Then come `rows` that start nowhere.
   *
   * @returns false, and nothing has changed, if a factor needs more rows or columns than are kept
   */
  async restore(
    stored: Checkpoint<SavedStream>,
    lanes: RestoredLanes,
    signal = this.#options.signal,
  ): Promise<boolean> {
    if (!this.#history) return true;
    const { description, rows } = stored;
    if (!hasColumns(rows, this.#input.buffers) || !this.#history.restore(stored, lanes.from)) return false;
    await this.#history.handOver()?.();
    if (this.#call.restarts) this.#call.restarts.last = description.stretch;
    const again = blocksOfRows(rows, this.#blockRows, lanes);
    const all = { start: null, first: 0, end: Number.POSITIVE_INFINITY };
    for await (const _ of this.#resultsOf(again, all, signal)) signal?.throwIfAborted();
    return true;
  }

  /** Releases the memory; for a stream whose blocks were not all read. May be called twice. */
  async close(): Promise<void> {
    await this.evaluation?.close();
  }

  /** Gives the next block the space of the one that came `#spaces` before it. */
  #place({ done, value: block }: IteratorResult<PanelBlock>): PlacedBlock | null {
    if (done) return null;
    const firstRow = this.#nextRow;
    const space = this.#blockCount % this.#spaces;
    this.#blockCount++;
    this.#nextRow += block.rowCount;
    return this.#input.place(block, firstRow, space * this.#blockRows);
  }

  /** Runs the rows of a block, those from a restart on as if none came before, and keeps them where history is kept. */
  async #run(block: PlacedBlock, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const { evaluation } = this;
    if (!evaluation) return;
    const { inputRow, outputRow, rowCount, times } = block;
    const starts = this.#call.restarts?.starts(times) ?? [];
    const running: Promise<void>[] = [];
    let first = 0;
    const runTo = (end: number) => {
      if (first === end) return;
      const rows = { rowCount: end - first, inputRow: inputRow + first, outputRow: outputRow + first };
      const conditions = this.#graph.conditionsIn(times.subarray(first, end));
      running.push(evaluation.run(rows, signal, conditions));
      first = end;
    };
    for (let row = 0; row < rowCount; row++) {
      if (starts.includes(row)) {
        runTo(row);
        running.push(evaluation.restart());
        this.#history?.restart();
      }
      if (!this.#history) continue;
      this.#history.append(rowOfBlock(this.#input.buffers, block, row));
      const handOver = this.#history.handOver();
      if (!handOver) continue;
      // With this block: it may run the last rows again, whose results are not read before.
      runTo(row + 1);
      running.push(evaluation.between(handOver));
    }
    runTo(rowCount);
    await Promise.all(running);
  }

  /** The rows of a block within the range; null if there are none. */
  #results(
    { firstRow, rowCount, outputRow, times, present }: PlacedBlock,
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
      const values = column.subarray((outputRow + first) * laneCount, (outputRow + end) * laneCount);
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

/** Blocks that are in memory at a time: those that overlap, where there are enough rows. */
function spacesFor({ range }: PreparedCall, blockRows: number): number {
  return Math.min(OVERLAPPING_BLOCKS_MAX, Math.max(1, Math.ceil(range.end / blockRows)));
}

function inputOf(source: PanelSource, call: PreparedCall, blockRows: number, options: StreamOptions) {
  const rowCount = spacesFor(call, blockRows) * blockRows;
  return inputFor(source, call, rowCount, options.keepsHistory === true);
}

async function openEvaluation(
  host: EngineHost,
  registry: Registry,
  { operators, disabledPasses }: StreamProgram,
  source: PanelSource,
  call: OrderedCall,
  dag: Dag,
  options: StreamOptions,
): Promise<Evaluation<StreamBuffers> | null> {
  const { laneCount } = source;
  const { blockRows, kernel, signal, reader, keepsHistory } = options;
  if (dag.outputs.length === 0 || call.range.end === 0 || laneCount === 0) return null;
  const { bytes: readerBytes, held = [], remedy = REMEDY } = reader?.(call) ?? {};
  const keptBytes = keepsHistory
    ? StreamHistory.bytesOf(dag, StagedInput.bytesOf(call.read, 1, laneCount))
    : 0;
  const resultCells = (rows: number) => spacesFor(call, rows) * rows * laneCount;
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
    waits: call.waits,
    signal,
    memoryNeed: (rows) => ({
      bytes: {
        input: inputOf(source, call, rows, options).bytes,
        ...(keepsHistory && { "kept rows": keptBytes }),
        results: resultCells(rows) * Float64Array.BYTES_PER_ELEMENT * dag.outputs.length,
        ...readerBytes,
      },
      held,
      remedy,
    }),
    allocate: (rows) => {
      const input = inputOf(source, call, rows, options).open();
      const results = sharedColumns(dag.outputs.length, resultCells(rows));
      return { ...input.buffers, input, results };
    },
  });
}
