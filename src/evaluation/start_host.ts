import { totalmem } from "node:os";
import { ExecutorPool, type PoolOptions } from "../execution/executor_pool.ts";
import { engineDigest as digestOfEngine } from "../operator/operator_digest.ts";
import type { CostModel } from "../plan/cost_model.ts";
import type { EngineHost } from "./evaluation.ts";
import { MemoryBudget } from "./memory_budget.ts";
import { chooseCosts } from "./stored_costs.ts";
import { threadsOfMachine } from "./threads_of_machine.ts";

/** Share of the machine's memory that an engine may use if no limit is given. */
export const MEMORY_SHARE_DEFAULT = 0.6;

export interface HostOptions extends Omit<PoolOptions, "threads"> {
  /** Executor threads; default: one per available core, and at most 256. */
  readonly threads?: number | undefined;
  readonly memoryLimitBytes?: number | undefined;
  /** Default: what is stored for this machine, else the built-in costs. */
  readonly costs?: CostModel | undefined;
  /** Default: of the files that this process runs. */
  readonly engineDigest?: string | undefined;
}

/**
 * Starts the threads that evaluations share, with their memory and their costs.
 *
 * @throws UsageError E505, ResourceError E403 as `ExecutorPool.start`.
 */
export async function startHost(options: HostOptions = {}): Promise<EngineHost> {
  const { memoryLimitBytes = MEMORY_SHARE_DEFAULT * totalmem(), costs, engineDigest, ...rest } = options;
  const { threads = threadsOfMachine() } = rest;
  const budget = new MemoryBudget(memoryLimitBytes);
  const model = costs ?? (await chooseCosts()).model;
  const heapMebibytesMax = rest.heapMebibytesMax ?? heapMebibytes(memoryLimitBytes, threads);
  const starting = ExecutorPool.start({ ...rest, threads, heapMebibytesMax });
  // While threads start, and before an update can replace the files under the process.
  const digest = engineDigest ?? digestOfEngine();
  return { pool: await starting, budget, threads, costs: model, engineDigest: digest };
}

/** Share of the memory limit that the JavaScript heaps of all threads may take: columns and state are not in them. */
const HEAPS_SHARE = 0.25;
/** Of one thread in MiB: what it loads of plans of many thousand formulas, and what an operator may need in a call. */
const HEAP_MEBIBYTES = { min: 256, max: 1024 };

/** The largest heap of a thread: an operator of the user's that wants more, or has no end, takes no other call along. */
function heapMebibytes(memoryLimitBytes: number, threads: number): number {
  const share = Math.floor((HEAPS_SHARE * memoryLimitBytes) / threads / 2 ** 20);
  return Math.max(HEAP_MEBIBYTES.min, Math.min(HEAP_MEBIBYTES.max, share));
}
