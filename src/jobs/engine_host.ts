import { availableParallelism, totalmem } from "node:os";
import { MEMORY_SHARE_DEFAULT } from "../engine.ts";
import type { EngineHost } from "../evaluation/evaluation.ts";
import { MemoryBudget } from "../evaluation/memory_budget.ts";
import { chooseCosts } from "../evaluation/stored_costs.ts";
import { ExecutorPool } from "../execution/executor_pool.ts";
import type { RunConfig } from "./config.ts";

/** The threads and the memory that all jobs share. @throws ResourceError E403 if the threads do not start. */
export async function startHost({ threads, memoryLimitBytes }: RunConfig["engine"]): Promise<EngineHost> {
  const count = threads ?? availableParallelism();
  const budget = new MemoryBudget(memoryLimitBytes ?? MEMORY_SHARE_DEFAULT * totalmem());
  const { model } = await chooseCosts(undefined);
  return { pool: await ExecutorPool.start({ threads: count }), budget, threads: count, costs: model };
}
