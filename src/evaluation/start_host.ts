import { ExecutorPool, type PoolOptions } from "../execution/executor_pool.ts";
import { machineMemoryBytes } from "../limits.ts";
import type { CostModel } from "../plan/cost_model.ts";
import type { EngineHost } from "./evaluation.ts";
import { MemoryBudget } from "./memory/memory_budget.ts";
import type { MemoryThresholds } from "./memory/thresholds.ts";
import { chooseCosts } from "./stored_costs.ts";
import { threadsOfMachine, threadsStarted } from "./threads_of_machine.ts";

const MEMORY_SHARE_DEFAULT = 0.6;

/** Default memory limit of an engine: a share of what the machine, or the container, has. */
export function defaultMemoryLimit(): number {
  return MEMORY_SHARE_DEFAULT * machineMemoryBytes();
}

export interface HostOptions extends Omit<PoolOptions, "threads"> {
  /**
   * Executor threads, at most 256; of more than there are available cores, that many start. Default: one per available
   * core, less one where there are more than three.
   */
  readonly threads?: number | undefined;
  readonly memoryLimitBytes?: number | undefined;
  /** Default: what one WebAssembly memory holds. */
  readonly arenaBytesMax?: number | undefined;
  readonly memoryThresholds?: MemoryThresholds | undefined;
  /** Default: the calibration stored for this machine, else the built-in costs. */
  readonly costs?: CostModel | undefined;
}

/**
 * Starts the threads that evaluations share, with their memory and their costs.
 *
 * @throws UsageError E528, ResourceError E403 as `ExecutorPool.start`.
 */
export async function startHost(options: HostOptions = {}): Promise<EngineHost> {
  const {
    memoryLimitBytes = defaultMemoryLimit(),
    memoryThresholds: thresholds,
    arenaBytesMax,
    costs,
    ...rest
  } = options;
  const { threads: asked = threadsOfMachine() } = rest;
  const threads = threadsStarted(asked, rest.cores);
  const budget = new MemoryBudget(memoryLimitBytes, { thresholds, threads, arenaBytesMax });
  const model = costs ?? (await chooseCosts()).model;
  const heapMebibytesMax = rest.heapMebibytesMax ?? heapMebibytes(memoryLimitBytes, threads);
  const pool = await ExecutorPool.start({ ...rest, threads, heapMebibytesMax });
  return { pool, budget, threads, costs: model };
}

/** Share of the memory limit for the JavaScript heaps of all threads; columns and state are not in them. */
const HEAPS_SHARE = 0.25;
/** Limits of one thread's heap in MiB: for loading plans of many thousand formulas, and for an operator in a call. */
const HEAP_MEBIBYTES = { min: 256, max: 1024 };

/** The largest heap of a thread: a user's operator that allocates without end must not end other calls. */
function heapMebibytes(memoryLimitBytes: number, threads: number): number {
  const share = Math.floor((HEAPS_SHARE * memoryLimitBytes) / threads / 2 ** 20);
  return Math.max(HEAP_MEBIBYTES.min, Math.min(HEAP_MEBIBYTES.max, share));
}
