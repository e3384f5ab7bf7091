import type { RecordBatch, Table } from "apache-arrow";
import { builtInRegistry } from "../operators/index.ts";
import { PROGRAM, type Program } from "./compile.ts";
import { batchesOfBlocks, FactorBatches, outputColumns } from "./data/factors/factor_batches.ts";
import { asPanelSource, type PanelSource } from "./data/panel/panel_source.ts";
import { openFactorWriter } from "./data/write/factor_writer.ts";
import {
  type DiffOptions,
  diffPrograms,
  OWN_DIFF_OPTIONS,
  type ProgramDifference,
} from "./difference/program_difference.ts";
import { type Evaluated, evaluateTable, reportOf, type StreamReport } from "./evaluation/evaluate_table.ts";
import type { EngineHost } from "./evaluation/evaluation.ts";
import { FactorStream } from "./evaluation/factor_stream.ts";
import { type EvaluateManyReport, ManyEvaluation, NOTHING_DONE } from "./evaluation/many/evaluate_many.ts";
import { CALLS, type CallOfMany, type EvaluateManyOptions } from "./evaluation/many/many_calls.ts";
import type { EngineMemory } from "./evaluation/memory/engine_memory.ts";
import type { EvaluateOptions } from "./evaluation/options.ts";
import { defaultMemoryLimit, startHost } from "./evaluation/start_host.ts";
import { type ChosenCosts, chooseCosts } from "./evaluation/stored_costs.ts";
import { engineClosed } from "./execution/executor_pool.ts";
import { LiveMeter } from "./live/live_metrics.ts";
import type { OpenOptions } from "./live/options.ts";
import { openSession } from "./live/session/open_session.ts";
import type { LiveSession } from "./live/session/session.ts";
import { type EngineMetrics, engineMetrics } from "./metrics/engine_metrics.ts";
import type { Registry } from "./operator/registry.ts";
import { ENGINE_OPTIONS, type EngineOptions } from "./options/engine_options.ts";
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
import { checkArgument, PATH } from "./text/argument_kinds.ts";
import { memoryBytes } from "./text/byte_size.ts";
import { checkedOptions } from "./text/option_kinds.ts";

/** Items that come one after the other, with an account of what was done so far. */
export interface Reported<Item, Report> extends AsyncGenerator<Item, void, void> {
  readonly report: Report;
}

/**
 * Evaluates programs over panels on a pool of threads. Calls may overlap. While no call is open, the threads do not keep
 * the process from ending.
 */
export class Engine {
  /** The costs in use, and why a stored calibration was left aside. */
  readonly costs: ChosenCosts;
  readonly #host: EngineHost;
  readonly #meter = new LiveMeter();

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
    const { memoryLimit = defaultMemoryLimit(), queueMs, ...rest } = checked;
    const memoryLimitBytes = memoryBytes(memoryLimit);
    const schedule = { queueNs: queueMs === undefined ? undefined : queueMs * 1e6 };
    const costs = await chooseCosts(rest.costs);
    const host = await startHost({ ...rest, memoryLimitBytes, costs: costs.model, schedule });
    return new Engine(host, costs);
  }

  private constructor(host: EngineHost, costs: ChosenCosts) {
    this.costs = costs;
    this.#host = host;
  }

  /**
   * Evaluates every factor that is wanted in this call over all rows.
   *
   * @returns `table`, an Arrow table: the time column under its own name and type, `symbol`, then one Float64 column per
   *   factor, sorted by time then symbol, with the rows of the input only. Null: not enough history, a null among what the
   *   value depends on, an infinity (unless `keepInfinite`), or a factor whose condition does not hold. In the array of a
   *   column null is NaN. And `report`: what was done.
   * @throws DataError if the panel lacks a column; UsageError for wrong arguments and options; ResourceError if memory
   *   or threads do not suffice; what the source throws; the signal's reason when aborted, once its memory is given back.
   * @example
   * const { table, report } = await engine.evaluate(program, panel, { params: { session: "close" } });
   */
  async evaluate(
    program: Program,
    source: PanelSource | Panel,
    options: EvaluateOptions = {},
  ): Promise<Evaluated> {
    const registry = registryOf("evaluate", program);
    const input = asPanelSource("evaluate", source);
    const checked = checkedAt("evaluate", options, {});
    return await evaluateTable(this.#host, registry, program, input, checked);
  }

  /**
   * Evaluates the program block by block, in memory that does not grow with the number of rows: the next block is read
   * while one is computed and the one before is taken.
   *
   * @returns The record batches of `evaluate`'s table, whatever the size of the blocks; `report` is what is done so far, null
   *   before the first batch is asked for.
   * @throws as `evaluate`, and what the source throws, when the first batch or the next one is asked for.
   * @example
   * for await (const batch of engine.stream(program, source)) await writer.write(batch);
   */
  stream(
    program: Program,
    source: PanelSource | Panel,
    options: EvaluateOptions = {},
  ): Reported<RecordBatch, StreamReport | null> {
    let report = (): StreamReport | null => null;
    const open = () => this.openStream(program, source, options);
    const batches = async function* () {
      const input = asPanelSource("stream", source);
      const stream = await open();
      const gathered = new FactorBatches(outputColumns(input, stream.wanted), options);
      report = () => reportOf(stream, gathered);
      try {
        yield* batchesOfBlocks(gathered, stream.blocks());
      } finally {
        await stream.close();
      }
    };
    return reported(batches(), () => report());
  }

  /**
   * Evaluates the program block by block and writes the table of `evaluate` to a file, in the format of the path's
   * extension: .parquet, .arrow, .feather, .csv or .csv.gz. The file appears when it is complete.
   *
   * @returns What was done.
   * @throws UsageError E544 for a path that cannot be written; DataError E314 for names that the format cannot tell apart;
   *   ResourceError E442 when writing fails; else as `stream`. No file stays then.
   * @example
   * const { nullCounts } = await engine.write(program, source, "factors.parquet");
   */
  async write(
    program: Program,
    source: PanelSource | Panel,
    path: string,
    options: EvaluateOptions = {},
  ): Promise<StreamReport> {
    const input = asPanelSource("write", source);
    checkArgument("write", path, PATH);
    const stream = await this.openStream(program, input, options);
    try {
      const writer = await openFactorWriter(path, outputColumns(input, stream.wanted), options);
      try {
        for await (const block of stream.blocks()) await writer.append(block);
        await writer.commit();
      } catch (error) {
        await writer.abort();
        throw error;
      }
      return reportOf(stream, writer);
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
   * @returns One table per call, in order, each as `evaluate` gives it with these params; `report` is what is done so far.
   *   Nothing is computed before the first table is asked for; leaving the loop gives everything back.
   * @throws as `evaluate`, when the first table or the next one is asked for; wrong params name their call before
   *   anything is computed. ResourceError E401 only if a single call does not fit into memory; E444 if results can
   *   wait neither in memory nor in the folder for temporary files.
   * @example
   * const calls = [0.9, 0.94, 0.97].map((lambda) => ({ params: { lambda } }));
   * for await (const table of engine.evaluateMany(program, panel, calls)) console.log(table.numRows);
   */
  evaluateMany(
    program: Program,
    source: PanelSource | Panel,
    calls: readonly CallOfMany[],
    options: EvaluateManyOptions = {},
  ): Reported<Table, EvaluateManyReport> {
    const host = this.#host;
    let many: ManyEvaluation | null = null;
    const tables = async function* () {
      const registry = registryOf("evaluateMany", program);
      const input = asPanelSource("evaluateMany", source);
      checkArgument("evaluateMany", calls, CALLS);
      const checked = checkedAt("evaluateMany", options, {});
      many = await ManyEvaluation.open(host, registry, program, input, calls, checked);
      yield* many.tables();
    };
    return reported(tables(), () => many?.report ?? NOTHING_DONE);
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
    checkArgument("why", program, PROGRAM);
    const input = asPanelSource("why", source);
    const checked = checkedAt("why", options, OWN_WHY_OPTIONS);
    return await explainFactorCell(this.#host, program, input, checked);
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
    checkArgument("whyRows", program, PROGRAM);
    const input = asPanelSource("whyRows", source);
    const checked = checkedAt("whyRows", options, OWN_WHY_ROWS_OPTIONS);
    return await explainFactorRows(this.#host, program, input, checked);
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
    checkArgument("nulls", program, PROGRAM);
    const input = asPanelSource("nulls", source);
    const checked = checkedAt("nulls", options, {});
    return await countNulls(this.#host, program, input, checked);
  }

  /**
   * Opens a program for live use: rows come one by one, and the state of its operators is kept between them. Every row
   * has the bits that `evaluate` gives for it with the whole history.
   *
   * @throws UsageError for wrong options; DataError for a warm-up that lacks a column, E351 and E352 for a checkpoint
   *   that is damaged or of another session; ResourceError E401 if memory does not suffice; the signal's reason when
   *   aborted.
   * @example
   * await using session = await engine.openSession(program, { warmup: panel });
   * const { table } = await session.push({ time: 20_000n, fields: { close: closes } });
   */
  async openSession(program: Program, options: OpenOptions = {}): Promise<LiveSession> {
    return await openSession(this.#host, program, options, { meter: this.#meter });
  }

  /** What the engine's memory holds now: what is managed, what is kept, and what was spilled to disk. */
  get memory(): EngineMemory {
    return this.#host.budget.memory;
  }

  /**
   * What the engine does now and has done since it was started, for dashboards and alarms: executors, memory, and rows,
   * budgets and late factors of its sessions. `metricsText` gives the same numbers in Prometheus' format.
   *
   * @returns a plain object of the moment.
   * @example
   * const { executors, memory, live, sessions } = engine.metrics();
   * console.log(executors.busyShare, memory.managedBytes, live.missedBudgets, sessions[0]?.waitingCalls);
   */
  metrics(): EngineMetrics {
    return engineMetrics(this.#host, this.#meter);
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

function reported<Item, Report>(
  items: AsyncGenerator<Item, void, void>,
  report: () => Report,
): Reported<Item, Report> {
  return Object.defineProperty(items, "report", { get: report }) as Reported<Item, Report>;
}

/** The operators that a program may use. @throws UsageError E528 for what is no program. */
function registryOf(taker: string, program: Program): Registry {
  checkArgument(taker, program, PROGRAM);
  return builtInRegistry.with(program.operators);
}
