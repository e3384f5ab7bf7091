import { isDeepStrictEqual } from "node:util";
import { builtInRegistry } from "../../operators/index.ts";
import type { Program } from "../compile.ts";
import type { FactorBlock } from "../data/factors/factor_batches.ts";
import { panelSource } from "../data/panel/panel_source.ts";
import type { EngineHost } from "../evaluation/evaluation.ts";
import { FactorStream } from "../evaluation/factor_stream.ts";
import type { MemoryBudget } from "../evaluation/memory/memory_budget.ts";
import { isMemoryShort } from "../evaluation/memory/memory_need.ts";
import type { EvaluateOptions, KernelChoice } from "../evaluation/options.ts";
import { ExecutorPool } from "../execution/executor_pool.ts";
import { engineDigest } from "../operator/operator_digest.ts";
import type { Registry } from "../operator/registry.ts";
import type { Panel } from "../panel.ts";
import { DEFAULT_COSTS } from "../plan/cost_model.ts";
import type { Plan } from "../plan/plan.ts";
import type { Variation } from "./checks.ts";
import { restartedBlocks } from "./restarted_blocks.ts";

export interface RunsSetup {
  /** The program compiled without these passes. */
  readonly programWithout: (passes: readonly string[]) => Program;
  readonly panel: Panel;
  /** Select, params and times of every run. */
  readonly options: EvaluateOptions;
  readonly threads: number;
  readonly budget: MemoryBudget;
}

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
    const { budget, options, programWithout } = this.#setup;
    const { threads = this.#setup.threads, disabledPasses = [], startRow = 0, ...choices } = variation;
    const program = programWithout(disabledPasses);
    const registry = builtInRegistry.with(program.operators);
    const host = {
      pool: await this.#pool(threads),
      budget,
      threads,
      costs: DEFAULT_COSTS,
      engineDigest: engineDigest(),
    };
    const panel = startRow === 0 ? this.#setup.panel : rowsFrom(this.#setup.panel, startRow);
    const { restartRow, ...how } = choices;
    const all = { ...options, ...how, onProgress };
    if (restartRow !== undefined) {
      const blocks = restartedBlocks(host, registry, program, panelSource(panel), { ...all, restartRow });
      await forEachBlock(blocks, panel, startRow, onBlock);
      return { blockRows: undefined, isAsUsual: false };
    }
    const stream = await openStream(host, registry, program, panel, all);
    const plan = stream.evaluation?.plan ?? null;
    const isAsUsual = startRow === 0 && plan !== null && this.#isUsual(plan, threads, all.kernel, registry);
    if (isAsUsual) await stream.close();
    else await forEachBlock(stream.blocks(), panel, startRow, onBlock);
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
  { time }: Panel,
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
async function openStream(
  host: EngineHost,
  registry: Registry,
  program: Program,
  panel: Panel,
  options: EvaluateOptions,
): Promise<FactorStream> {
  const { blockRows } = options;
  try {
    return await FactorStream.open(host, registry, program, panelSource(panel), options);
  } catch (error) {
    if (!isMemoryShort(error) || blockRows === undefined || blockRows === 1) throw error;
    return await openStream(host, registry, program, panel, {
      ...options,
      blockRows: Math.floor(blockRows / 2),
    });
  }
}

/** The panel without its first rows. */
function rowsFrom(panel: Panel, row: number): Panel {
  const { laneCount, time, fields, groups, present } = panel;
  const cell = row * laneCount;
  return {
    ...panel,
    rowCount: panel.rowCount - row,
    time: { ...time, values: time.values.subarray(row) },
    fields: new Map([...fields].map(([name, values]) => [name, values.subarray(cell)])),
    groups: new Map(
      [...groups].map(([name, group]) => {
        return [name, group.changesOverTime ? { ...group, codes: group.codes.subarray(cell) } : group];
      }),
    ),
    present: present.subarray(cell),
  };
}
