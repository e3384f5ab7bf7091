import { availableParallelism, totalmem } from "node:os";
import { ExecutorPool, type PoolOptions } from "../execution/executor_pool.ts";
import { engineDigest as digestOfEngine } from "../operator/operator_digest.ts";
import type { CostModel } from "../plan/cost_model.ts";
import type { EngineHost } from "./evaluation.ts";
import { MemoryBudget } from "./memory_budget.ts";
import { chooseCosts } from "./stored_costs.ts";

/** Share of the machine's memory that an engine may use if no limit is given. */
export const MEMORY_SHARE_DEFAULT = 0.6;

export interface HostOptions extends Omit<PoolOptions, "threads"> {
  /** Executor threads; default: one per available core. */
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
  const { threads = availableParallelism() } = rest;
  const budget = new MemoryBudget(memoryLimitBytes);
  const model = costs ?? (await chooseCosts()).model;
  const starting = ExecutorPool.start({ ...rest, threads });
  // While threads start, and before an update can replace the files under the process.
  const digest = engineDigest ?? digestOfEngine();
  return { pool: await starting, budget, threads, costs: model, engineDigest: digest };
}
