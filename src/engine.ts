import type { RecordBatch, Table } from "apache-arrow";
import { builtInRegistry } from "../operators/index.ts";
import { PROGRAM, type Program } from "./compile.ts";
import { batchesOfBlocks } from "./data/factors/factor_batches.ts";
import { asPanelSource, type PanelSource } from "./data/panel/panel_source.ts";
import {
  type DiffOptions,
  diffPrograms,
  OWN_DIFF_OPTIONS,
  type ProgramDifference,
} from "./difference/program_difference.ts";
import { UsageError } from "./errors.ts";
import { evaluateTable, type PanelEvaluation } from "./evaluation/evaluate_table.ts";
import type { EngineHost } from "./evaluation/evaluation.ts";
import { FactorStream } from "./evaluation/factor_stream.ts";
import { ManyEvaluation } from "./evaluation/many/evaluate_many.ts";
import { CALLS, type CallOfMany, type EvaluateManyOptions } from "./evaluation/many/many_calls.ts";
import type { EngineMemory } from "./evaluation/memory/engine_memory.ts";
import { type MemoryThresholds, THRESHOLD_OPTIONS } from "./evaluation/memory/thresholds.ts";
import { type EvaluateOptions, THREADS } from "./evaluation/options.ts";
import { defaultMemoryLimit, startHost } from "./evaluation/start_host.ts";
import { type ChosenCosts, COSTS, type CostChoice, chooseCosts } from "./evaluation/stored_costs.ts";
import { engineClosed } from "./execution/executor_pool.ts";
import type { TraceSink } from "./execution/trace/trace_events.ts";
import { HANG, type HangOptions } from "./execution/watch/hang_watch.ts";
import { QUEUE_MS_MAX } from "./limits.ts";
import type { OpenOptions } from "./live/options.ts";
import { openSession } from "./live/session/open_session.ts";
import type { LiveSession } from "./live/session/session.ts";
import type { Registry } from "./operator/registry.ts";
import { checkedAt } from "./options/option_table.ts";
import type { Panel } from "./panel.ts";
import type { Explanation } from "./reasons/explanation.ts";
import type { NullReport } from "./reasons/null_report.ts";
import { countNulls, type NullsOptions } from "./reasons/nulls.ts";
import {
  explainFactorCell,
  explainFactorRows,
  OWN_WHY_OPTIONS,
  OWN_WHY_ROWS_OPTIONS,
  type WhyOptions,
  type WhyRowsOptions,
} from "./reasons/why.ts";
import { checkArgument, FUNCTION, kindOf } from "./text/argument_kinds.ts";
import { MEMORY_LIMIT, memoryBytes } from "./text/byte_size.ts";
import { checkedOptions, type OptionKinds, optionsOf } from "./text/option_kinds.ts";

export interface EngineOptions {
  /**
   * Executor threads, at most 256; of more than there are available cores, that many start. Default: one per available
   * core, less one where there are more than three.
   */
  readonly threads?: number;
  /**
   * Memory for columns, operator state, results and the panels under evaluation, e.g. `"4GiB"` or a number of bytes;
   * default: 60 % of the machine's, or of the container's. What the process takes as a whole, beside what Node takes,
   * makes the engine spill and pause: `memoryThresholds`.
   */
  readonly memoryLimit?: string | number;
  /** At which shares of the limit the engine spills, pauses and, if asked to, refuses. */
  readonly memoryThresholds?: MemoryThresholds | undefined;
  /**
   * What operators cost, in ns per cell: chooses how work is cut and what goes first, never a bit of the results.
   * Default: `"calibrated"`, what `factorloom bench calibrate` has stored for this machine, else the built-in costs.
   */
  readonly costs?: CostChoice;
  /**
   * Work that the scheduler puts into a thread's queue at most while others have room, in ms: from 0, for one or two
   * parts, to 1,000. Short queues leave the choice of the thread open for longer, long ones wake threads less often. It
   * changes no bit of the results. Default: 3.
   */
  readonly queueMs?: number;
  /**
   * Takes what the threads do while they do it: every part that an executor runs, every step of the scheduler, queues,
   * steals. It changes no bit of the results and bounds its own memory: what the sink does not take in time is left out
   * and counted. Default: nothing is recorded, which costs nothing.
   */
  readonly trace?: TraceSink | undefined;
  /**
   * What to do about a part of an operator's work that takes 50 times as long as estimated and longer than `limitMs`: it
   * is reported once, and with `replaces` its thread is replaced as a lost one is. Default: a warning of the process
   * after 10 s, no replacement. False: nothing is watched.
   */
  readonly hang?: HangOptions | false | undefined;
}

export const ENGINE_OPTIONS: OptionKinds<EngineOptions> = {
  memoryLimit: MEMORY_LIMIT,
  memoryThresholds: optionsOf("memoryThresholds", THRESHOLD_OPTIONS),
  costs: COSTS,
  queueMs: {
    what: `a number from 0 to ${QUEUE_MS_MAX}`,
    fits: (given) => Number.isFinite(given) && (given as number) >= 0 && (given as number) <= QUEUE_MS_MAX,
    remedy: "leave it out, so that each plan has the queues that suit it",
    refuse: queueMsWrong,
  },
  trace: FUNCTION,
  hang: HANG,
  threads: THREADS,
};

/**
 * Evaluates programs over panels on a pool of threads. Calls may overlap. While no call is open, the threads do not keep
 * the process from ending.
 */
export class Engine {
  /** The costs in use, and why a stored calibration was left aside. */
  readonly costs: ChosenCosts;
  readonly #host: EngineHost;

  /**
   * Starts the threads.
   *
   * @throws UsageError for options that make no sense, such as E528 for `queueMs`, for `hang`, for
   *   `memoryThresholds`; ResourceError if the threads do not start.
   * @example
   * await using engine = await Engine.start({ threads: 2, memoryLimit: "4GiB" });
   */
  static async start(options: EngineOptions = {}): Promise<Engine> {
    const checked = checkedOptions("Engine.start", options, ENGINE_OPTIONS);
    const { threads, memoryLimit = defaultMemoryLimit(), trace, hang, memoryThresholds, queueMs } = checked;
    const memoryLimitBytes = memoryBytes(memoryLimit);
    const schedule = { queueNs: queueMs === undefined ? undefined : queueMs * 1e6 };
    const costs = await chooseCosts(checked.costs);
    const host = await startHost({
      threads,
      memoryLimitBytes,
      memoryThresholds,
      costs: costs.model,
      trace,
      schedule,
      hang,
    });
    return new Engine(host, costs);
  }

  private constructor(host: EngineHost, costs: ChosenCosts) {
    this.costs = costs;
    this.#host = host;
  }

  /**
   * Evaluates every factor that is wanted in this call over all rows.
   *
   * @returns Arrow table: the time column under its own name and type, `symbol`, then one Float64 column per factor,
   *   sorted by time then symbol, with the rows of the input only. Null: not enough history, a null among what the
   *   value depends on, an infinity (unless `keepInfinite`), or a factor whose condition does not hold. In the array of a
   *   column null is NaN.
   * @throws DataError if the panel lacks a column; UsageError for wrong arguments and options; ResourceError if memory
   *   or threads do not suffice; what the source throws; the signal's reason when aborted, once its memory is given back.
   * @example
   * const table = await engine.evaluate(program, panel, { params: { session: "close" } });
   */
  async evaluate(
    program: Program,
    source: PanelSource | Panel,
    options: EvaluateOptions = {},
  ): Promise<Table> {
    return (await this.evaluateWithReport(program, source, options)).table;
  }

  /** The same as `evaluate`, with an account of what was done. */
  async evaluateWithReport(
    program: Program,
    source: PanelSource | Panel,
    options: EvaluateOptions = {},
  ): Promise<PanelEvaluation> {
    const registry = registryOf("evaluate", program);
    const input = asPanelSource("evaluate", source);
    const checked = checkedAt("evaluate", options, {});
    return await evaluateTable(this.#host, registry, program, input, checked);
  }

  /**
   * Evaluates the program block by block, in memory that does not grow with the number of rows: the next block is read
   * while one is computed and the one before is taken.
   *
   * @returns The record batches of `evaluate`'s table, whatever the size of the blocks.
   * @throws as `evaluate`, and what the source throws, when the first batch or the next one is asked for.
   * @example
   * for await (const batch of engine.stream(program, source)) await writer.write(batch);
   */
  async *stream(
    program: Program,
    source: PanelSource | Panel,
    options: EvaluateOptions = {},
  ): AsyncGenerator<RecordBatch, void, void> {
    const input = asPanelSource("stream", source);
    const stream = await this.openStream(program, input, options);
    const { time, symbols } = input;
    const factors = stream.wanted.factors.map(({ name }) => name);
    const { keepInfinite = false } = options;
    try {
      yield* batchesOfBlocks({ time, symbols, factors }, stream.blocks(), { keepInfinite });
    } finally {
      await stream.close();
    }
  }

  /** The same as `stream`, as columns in memory that is used again, with an account of what was done. @internal */
  async openStream(
    program: Program,
    source: PanelSource | Panel,
    options: EvaluateOptions = {},
  ): Promise<FactorStream> {
    const registry = registryOf("stream", program);
    const input = asPanelSource("stream", source);
    const checked = checkedAt("stream", options, {});
    return await FactorStream.open(this.#host, registry, program, input, checked);
  }

  /**
   * Evaluates the same program over the same bars once for each call's params, in one pass over them: what does not
   * depend on the params is computed once for all calls. Results that wait to be taken may wait on disk.
   *
   * @returns One table per call, in order, each as `evaluate` gives it with these params. Nothing is computed before
   *   the first one is asked for; leaving the loop gives everything back.
   * @throws as `evaluate`, when the first table or the next one is asked for; wrong params name their call before
   *   anything is computed. ResourceError E401 only if a single call does not fit into memory; E444 if results can
   *   wait neither in memory nor in the folder for temporary files.
   * @example
   * const calls = [0.9, 0.94, 0.97].map((lambda) => ({ params: { lambda } }));
   * for await (const table of engine.evaluateMany(program, panel, calls)) console.log(table.numRows);
   */
  async *evaluateMany(
    program: Program,
    source: PanelSource | Panel,
    calls: readonly CallOfMany[],
    options: EvaluateManyOptions = {},
  ): AsyncGenerator<Table, void, void> {
    yield* (await this.openMany(program, source, calls, options)).tables();
  }

  /** The same as `evaluateMany`, with an account of what was shared. */
  async openMany(
    program: Program,
    source: PanelSource | Panel,
    calls: readonly CallOfMany[],
    options: EvaluateManyOptions = {},
  ): Promise<ManyEvaluation> {
    const registry = registryOf("evaluateMany", program);
    const input = asPanelSource("evaluateMany", source);
    checkArgument("evaluateMany", calls, CALLS);
    const checked = checkedAt("evaluateMany", options, {});
    return await ManyEvaluation.open(this.#host, registry, program, input, calls, checked);
  }

  /**
   * Explains a cell of a factor: the value of every sub-expression in it, and for a null the chain of cells down to the
   * first cause. The values have the bits of `evaluate`; only the rows that the cell depends on are computed.
   *
   * @throws UsageError E506 for an unknown factor, E541 for a time of another type; DataError E344 for a time and for
   *   a symbol that the data lack, where the symbol has no row at that time; else as `evaluate`.
   * @example
   * const { cause } = await engine.why(program, panel, { factor: "a", symbol: "A", time: "2024-01-02" });
   * cause; // "too_few_rows"
   */
  async why(program: Program, source: PanelSource | Panel, options: WhyOptions): Promise<Explanation> {
    const registry = registryOf("why", program);
    const input = asPanelSource("why", source);
    const checked = checkedAt("why", options, OWN_WHY_OPTIONS);
    return await explainFactorCell(this.#host, registry, program, input, checked);
  }

  /**
   * Explains the cells of a factor and a symbol from one time to another, both inclusive: one explanation for each time at
   * which the symbol has a row, in order. Default: all times.
   *
   * @throws UsageError E506 for an unknown factor, E541 for a time of another type; DataError E344 for a symbol that the
   *   data lack, for no time in the range; else as `evaluate`.
   * @example
   * const rows = await engine.whyRows(program, panel, { factor: "a", symbol: "A", from: "2024-01-02" });
   * rows[0]?.cause; // "too_few_rows"
   */
  async whyRows(
    program: Program,
    source: PanelSource | Panel,
    options: WhyRowsOptions,
  ): Promise<Explanation[]> {
    const registry = registryOf("whyRows", program);
    const input = asPanelSource("whyRows", source);
    const checked = checkedAt("whyRows", options, OWN_WHY_ROWS_OPTIONS);
    return await explainFactorRows(this.#host, registry, program, input, checked);
  }

  /**
   * Compares two programs over one panel: which factors differ, in how many cells, by how much and where first, and the
   * smallest sub-expressions in which that begins. Both are computed in one pass over the panel, block by block, in the
   * memory of two evaluations; a second pass computes the sub-expressions of factors that differ. No result is kept.
   *
   * Values are those of `evaluate`: an infinity is null unless `keepInfinite`.
   *
   * @throws DataError E386 if no factor is in both; UsageError E506 for a selected factor that neither has, E549 for
   *   different operators of one name, E555 for a param whose defaults differ beside `paramsByTime`, E528 for a tolerance
   *   that is negative or no number; else as `evaluate`.
   * @example
   * const slower = compile("a = ts_mean(close, 3) * lambda\nparam lambda = 0.9");
   * const { differences } = await engine.diff(program, slower, panel);
   * differences[0]?.origins?.[0]?.a.formula; // "ts_mean(close, 2)"
   */
  async diff(
    a: Program,
    b: Program,
    source: PanelSource | Panel,
    options: DiffOptions = {},
  ): Promise<ProgramDifference> {
    for (const program of [a, b]) checkArgument("diff", program, PROGRAM);
    const input = asPanelSource("diff", source);
    return await diffPrograms(this.#host, a, b, input, checkedAt("diff", options, OWN_DIFF_OPTIONS));
  }

  /**
   * Counts the nulls of each factor by first cause, and by the sub-expression that has it: what `why` says of each null,
   * found in one pass over the data.
   *
   * @throws UsageError E506 for an unknown factor; else as `evaluate`.
   * @example
   * const { factors } = await engine.nulls(program, panel);
   * factors[0]?.causes; // [{ cause: "too_few_rows", cellCount: 2 }]
   */
  async nulls(
    program: Program,
    source: PanelSource | Panel,
    options: NullsOptions = {},
  ): Promise<NullReport> {
    const registry = registryOf("nulls", program);
    const input = asPanelSource("nulls", source);
    const checked = checkedAt("nulls", options, {});
    return await countNulls(this.#host, registry, program, input, checked);
  }

  /**
   * Opens a program for live use: rows come one by one, and the state of its operators is kept between them. Every row
   * has the bits that `evaluate` gives for it with the whole history.
   *
   * @throws UsageError for wrong options; DataError for a warm-up that lacks a column, E351 and E352 for a checkpoint
   *   that is damaged or of another session; ResourceError E401 if memory does not suffice; the signal's reason when
   *   aborted.
   * @example
   * await using session = await engine.open(program, { warmup: panel });
   * const { table } = await session.push({ time: 20_000n, fields: { close: closes } });
   */
  async open(program: Program, options: OpenOptions = {}): Promise<LiveSession> {
    return await openSession(this.#host, program, options);
  }

  /** What the engine's memory holds now: what is managed, what is kept, and what was spilled to disk. */
  get memory(): EngineMemory {
    return this.#host.budget.memory;
  }

  /** Ends all threads; calls under way are rejected. With a trace: its sink has then taken everything, or it throws. */
  async close(): Promise<void> {
    this.#host.budget.close(engineClosed());
    await this.#host.pool.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function queueMsWrong(_: string, given: unknown): UsageError {
  return new UsageError(
    "E528",
    `queueMs must be a number from 0 to ${QUEUE_MS_MAX}, got ${typeof given === "number" ? given : kindOf(given)}`,
    "leave it out, so that each plan has the queues that suit it",
  );
}

/** The operators that a program may use. @throws UsageError E528 for what is no program. */
function registryOf(taker: string, program: Program): Registry {
  checkArgument(taker, program, PROGRAM);
  return builtInRegistry.with(program.operators);
}
