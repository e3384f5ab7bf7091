import type { EngineHost } from "../evaluation/evaluation.ts";
import type { EngineMemory } from "../evaluation/memory/engine_memory.ts";
import type { ExecutorMetrics } from "../execution/executor_metrics.ts";
import type { LiveCounts, LiveMeter, SessionMetrics } from "../live/live_metrics.ts";

/** What the threads and the memory of an engine do now, and have done since it was started. */
export interface HostMetrics {
  readonly executors: ExecutorMetrics;
  readonly memory: EngineMemory;
}

/** What an engine does now, and has done since it was started: a plain object, which `metricsText` gives as text. */
export interface EngineMetrics extends HostMetrics {
  /** Of all its sessions, also of those that were closed. */
  readonly live: LiveCounts;
  /** The sessions that are open, in the order in which they were opened. */
  readonly sessions: readonly SessionMetrics[];
}

export function hostMetrics({ pool, budget }: EngineHost): HostMetrics {
  return { executors: pool.metrics, memory: budget.memory };
}

export function engineMetrics(host: EngineHost, { counts, sessions }: LiveMeter): EngineMetrics {
  return { ...hostMetrics(host), live: counts, sessions };
}
