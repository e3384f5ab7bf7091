import { isDeepStrictEqual } from "node:util";
import { builtInRegistry } from "../../operators/index.ts";
import { readCheckpoint } from "../checkpoint/read_checkpoint.ts";
import { checkpointBytes } from "../checkpoint/write_checkpoint.ts";
import type { Program } from "../compile.ts";
import type { FactorBlock } from "../data/factors/factor_batches.ts";
import type { PanelSource } from "../data/panel/panel_source.ts";
import { partOfSource } from "../data/panel/part_of_source.ts";
import { InternalError } from "../errors.ts";
import type { EngineHost } from "../evaluation/evaluation.ts";
import { FactorStream, type SavedStream } from "../evaluation/factor_stream.ts";
import type { MemoryBudget } from "../evaluation/memory/memory_budget.ts";
import { isMemoryShort } from "../evaluation/memory/memory_need.ts";
import type { EvaluateOptions, KernelChoice } from "../evaluation/options.ts";
import { ExecutorPool } from "../execution/executor_pool.ts";
import type { Registry } from "../operator/registry.ts";
import { DEFAULT_COSTS } from "../plan/cost_model.ts";
import type { Plan } from "../plan/plan.ts";
import type { Variation } from "./checks.ts";

export interface RunsSetup {
  /** The program compiled without these passes. */
  readonly programWithout: (passes: readonly string[]) => Program;
  readonly source: PanelSource;
  /** Select, params and times of every run. */
  readonly options: EvaluateOptions;
  readonly threads: number;
  readonly budget: MemoryBudget;
}

/** Rows of a block after a restart: a prime. */
const RESTARTED_BLOCK_ROWS = 7;

/** Receives a block and its first row in the panel. */
export type OnBlock = (block: FactorBlock, firstRow: number) => void;

/** How a variation was run. */
export interface VariationRun {
  /** Rows of the blocks: fewer than in the variation if these did not fit. Undefined for a restart. */
  readonly blockRows: number | undefined;
  /** True if the run would repeat the usual one: it is left out then. */
  readonly isAsUsual: boolean;
}

/** Evaluates one panel repeatedly, each time in another way; the first run is the usual one. */
export class Runs {
  readonly #setup: RunsSetup;
  readonly #pools = new Map<number, ExecutorPool>();
  #usualPlan: Plan | null = null;

  constructor(setup: RunsSetup) {
    this.#setup = setup;
  }

  async run(
    variation: Variation,
    onBlock: OnBlock,
    onProgress: (rowsDone: number, rowCount: number) => void,
  ): Promise<VariationRun> {
    const { options, programWithout } = this.#setup;
    const { threads = this.#setup.threads, disabledPasses = [], startRow = 0, ...choices } = variation;
    const program = programWithout(disabledPasses);
    const registry = builtInRegistry.with(program.operators);
    const host = await this.#host(threads);
    const rows = { first: startRow, end: this.#setup.source.rowCount };
    const source = partOfSource(this.#setup.source, { rows, lane: null });
    const { restartRow, ...how } = choices;
    const call = { ...options, ...how, onProgress };
    if (restartRow !== undefined) {
      const hosts = [host, await this.#host(threads === 1 ? 2 : 1)] as const;
      const blocks = restartedBlocks(hosts, registry, program, source, { ...call, restartRow });
      await forEachBlock(blocks, source, startRow, onBlock);
      return { blockRows: undefined, isAsUsual: false };
    }
    const stream = await openFitting(call, (fitting) =>
      FactorStream.open(host, registry, program, source, fitting),
    );
    const plan = stream.evaluation?.plan ?? null;
    const isAsUsual = startRow === 0 && plan !== null && this.#isUsual(plan, threads, call.kernel, registry);
    if (isAsUsual) await stream.close();
    else await forEachBlock(stream.blocks(), source, startRow, onBlock);
    this.#usualPlan ??= plan;
    return { blockRows: plan?.blockRows, isAsUsual };
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  /** The plan determines everything but threads and code. */
  #isUsual(plan: Plan, threads: number, kernel: KernelChoice | undefined, registry: Registry): boolean {
    const isCodeUsual =
      kernel !== "reference" || !plan.tasks.some(({ operator }) => "lower" in registry.kernel(operator));
    return isCodeUsual && threads === this.#setup.threads && isDeepStrictEqual(plan, this.#usualPlan);
  }

  async #host(threads: number): Promise<EngineHost> {
    const { budget } = this.#setup;
    const pool = await this.#pool(threads);
    return { pool, budget, threads, costs: DEFAULT_COSTS };
  }

  async #pool(threads: number): Promise<ExecutorPool> {
    const known = this.#pools.get(threads);
    if (known) return known;
    const pool = await ExecutorPool.start({ threads });
    this.#pools.set(threads, pool);
    return pool;
  }
}

async function forEachBlock(
  blocks: AsyncIterable<FactorBlock>,
  { time }: PanelSource,
  startRow: number,
  onBlock: OnBlock,
): Promise<void> {
  let row: number | null = null;
  for await (const block of blocks) {
    row ??= startRow + time.values.indexOf(block.times[0] as bigint);
    onBlock(block, row);
    row += block.rowCount;
  }
}

/** Opens a stream with blocks of the wanted size, halved until they fit in memory. */
async function openFitting(
  options: EvaluateOptions,
  open: (options: EvaluateOptions) => Promise<FactorStream>,
): Promise<FactorStream> {
  const { blockRows = 1 } = options;
  try {
    return await open(options);
  } catch (error) {
    if (!isMemoryShort(error) || blockRows === 1) throw error;
    return await openFitting({ ...options, blockRows: Math.floor(blockRows / 2) }, open);
  }
}

/**
 * Evaluates as if the process had restarted on another machine: before the restart row the stream is closed, and one of
 * other threads and blocks goes on from its state. Blocks are views of buffers that the next block overwrites.
 */
export async function* restartedBlocks(
  hosts: readonly [before: EngineHost, after: EngineHost],
  registry: Registry,
  program: Program,
  source: PanelSource,
  options: EvaluateOptions & { readonly restartRow: number },
): AsyncGenerator<FactorBlock, void, void> {
  const { restartRow, ...call } = options;
  const open = async (host: EngineHost, others: EvaluateOptions) =>
    await FactorStream.open(host, registry, program, source, { ...call, ...others, keepsHistory: true });
  let stream = await open(hosts[0], {});
  try {
    const { end } = stream.range;
    yield* stream.rows({ start: 0, first: 0, end: Math.min(restartRow, end) });
    if (restartRow >= end) return;
    const snapshot = await stream.save();
    const checkpoint = await readCheckpoint<SavedStream>(await checkpointBytes(snapshot));
    await stream.close();
    stream = await open(hosts[1], { blockRows: RESTARTED_BLOCK_ROWS });
    const from = Int32Array.from({ length: source.laneCount }, (_, lane) => lane);
    if (!(await stream.restore(checkpoint, { from, groupsAt: () => new Map() })))
      throw new InternalError("the kept rows do not suffice");
    yield* stream.rows({ start: null, first: restartRow, end });
  } finally {
    await stream.close();
  }
}
