import type { EngineHost } from "../../src/evaluation/evaluation.ts";
import { MemoryBudget } from "../../src/evaluation/memory/memory_budget.ts";
import { isMemoryShort } from "../../src/evaluation/memory/memory_need.ts";

/** A host of the same threads whose memories hold no more than this: programs are divided. */
export function smallArenas(host: EngineHost, arenaBytesMax: number): EngineHost {
  return { ...host, budget: new MemoryBudget(host.budget.limitBytes, { arenaBytesMax }) };
}

/** Runs over memories that are doubled until each factor fits into one. */
export async function overSmallArenas<T>(
  host: EngineHost,
  bytes: number,
  run: (host: EngineHost) => Promise<T>,
): Promise<T> {
  try {
    return await run(smallArenas(host, bytes));
  } catch (error) {
    if (!isMemoryShort(error)) throw error;
    return await overSmallArenas(host, 2 * bytes, run);
  }
}

/** The number of memories of each plan that is opened from now on. */
export function arenaCounts({ pool }: EngineHost, counts: number[] = []): number[] {
  const open = pool.open.bind(pool);
  pool.open = async (data, order) => {
    counts.push(data.arenas.length);
    return await open(data, order);
  };
  return counts;
}
