import { availableParallelism, totalmem } from "node:os";
import { builtInRegistry } from "../operators/index.ts";
import type { Program } from "./compile.ts";
import { FactorBatches } from "./data/factor_batches.ts";
import type { FactorTable } from "./data/factor_table.ts";
import { type PanelSource, panelSource } from "./data/panel_source.ts";
import { UsageError } from "./errors.ts";
import { type EvaluationReport, evaluatePanel } from "./evaluation/evaluate_panel.ts";
import type { EngineHost } from "./evaluation/evaluation.ts";
import { FactorStream } from "./evaluation/factor_stream.ts";
import { MemoryBudget } from "./evaluation/memory_budget.ts";
import type { EvaluateOptions } from "./evaluation/options.ts";
import { ExecutorPool } from "./execution/executor_pool.ts";
import type { Panel } from "./panel.ts";
import { parseByteSize } from "./text/byte_size.ts";

export type { EvaluationReport } from "./evaluation/evaluate_panel.ts";
export type { EvaluateOptions, KernelChoice } from "./evaluation/options.ts";

/** Share of the machine's memory that an engine may use if no limit is given. */
export const MEMORY_SHARE_DEFAULT = 0.6;

/** Some rows of the table that `evaluate` gives, as an Arrow record batch. */
export type FactorBatch = FactorTable["table"]["batches"][number];

export interface EngineOptions {
  /** Executor threads; default: one per available core. */
  readonly threads?: number;
  /**
   * Memory for columns, operator state, results and the panels under evaluation, e.g. `"4GiB"` or a number of bytes;
   * default: 60 % of the machine's.
   */
  readonly memoryLimit?: string | number;
}

/** Evaluates programs over panels on a pool of threads. Calls may overlap. */
export class Engine {
  readonly #host: EngineHost;

  /**
   * Starts the threads.
   *
   * @throws UsageError for options that make no sense; ResourceError if the threads do not start.
   * @example
   * await using engine = await Engine.start({ threads: 2, memoryLimit: "4GiB" });
   */
  static async start(options: EngineOptions = {}): Promise<Engine> {
    const { threads = availableParallelism(), memoryLimit = MEMORY_SHARE_DEFAULT * totalmem() } = options;
    const limitBytes = typeof memoryLimit === "number" ? memoryLimit : parseByteSize(memoryLimit);
    if (!(limitBytes > 0)) {
      throw new UsageError(
        "E507",
        `a memory limit of ${limitBytes} bytes`,
        "give a positive number, or e.g. 4GiB",
      );
    }
    const budget = new MemoryBudget(limitBytes);
    return new Engine({ pool: await ExecutorPool.start({ threads }), budget, threads });
  }

  private constructor(host: EngineHost) {
    this.#host = host;
  }

  /**
   * Evaluates every factor that is wanted in this call over the whole panel.
   *
   * @returns Arrow table: the time column under its own name and type, `symbol`, then one Float64 column per factor,
   *   sorted by time then symbol, with the rows of the input only. Null: not enough history, a null among what the
   *   value depends on, an infinity (unless `keepInfinite`), or a factor whose condition does not hold.
   * @throws DataError if the panel lacks a column; UsageError for wrong options; ResourceError if memory or threads do
   *   not suffice; the signal's reason when aborted.
   * @example
   * const table = await engine.evaluate(program, panel, { params: { session: "close" } });
   */
  async evaluate(
    program: Program,
    panel: Panel,
    options: EvaluateOptions = {},
  ): Promise<FactorTable["table"]> {
    return (await this.evaluateWithReport(program, panel, options)).table;
  }

  /** The same as `evaluate`, with an account of what was done. */
  async evaluateWithReport(
    program: Program,
    panel: Panel,
    options: EvaluateOptions = {},
  ): Promise<{ table: FactorTable["table"]; report: EvaluationReport }> {
    const registry = builtInRegistry.with(program.operators);
    return await evaluatePanel(this.#host, registry, program, panel, options);
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
  ): AsyncGenerator<FactorBatch, void, void> {
    const input = "blocks" in source ? source : panelSource(source);
    const stream = await this.openStream(program, input, options);
    const { time, symbols } = input;
    const factors = stream.wanted.factors.map(({ name }) => name);
    const { keepInfinite = false } = options;
    try {
      const batches = new FactorBatches({ time, symbols, factors }, { keepInfinite });
      for await (const block of stream.blocks()) yield* batches.append(block);
      yield* batches.finish();
    } finally {
      await stream.close();
    }
  }

  /** The same as `stream`, as columns in memory that is used again, with an account of what was done. */
  async openStream(
    program: Program,
    source: PanelSource,
    options: EvaluateOptions = {},
  ): Promise<FactorStream> {
    const registry = builtInRegistry.with(program.operators);
    return await FactorStream.open(this.#host, registry, program, source, options);
  }

  /** Ends all threads; calls under way are rejected. */
  async close(): Promise<void> {
    await this.#host.pool.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
