import type { OpenPlan } from "./open_plan.ts";

/** The executor threads of an engine. */
export interface ExecutorMetrics {
  /** Those that run. A lost one counts again when another has taken its place; 0 if the engine is lost or closed. */
  readonly count: number;
  /** Those that ended before the engine was closed: by an operator, a heap too large, a hang, or an abort while they ran. */
  readonly lost: number;
  /** Seconds that they have spent in the parts of blocks, summed when a block has ended. */
  readonly busySeconds: number;
  /** That as a share of the time of all of them since the engine was started. */
  readonly busyShare: number;
  /** Parts that were reported as hanging; null with `hang: false`, where nobody looks. */
  readonly hangs: number | null;
}

/** Counts what the executors of a pool do. */
export class ExecutorMeter {
  readonly #startedAt = performance.now();
  #lostCount = 0;
  /** Time in parts of plans that were closed. */
  #closedNs = 0;

  noteLost(): void {
    this.#lostCount++;
  }

  noteClosed({ nodeNs }: Pick<OpenPlan, "nodeNs">): void {
    this.#closedNs += sumOf(nodeNs);
  }

  /** @param seatCount executors that there should be */
  metrics(
    count: number,
    seatCount: number,
    plans: Iterable<Pick<OpenPlan, "nodeNs">>,
    hangs: number | null,
  ): ExecutorMetrics {
    let busyNs = this.#closedNs;
    for (const { nodeNs } of plans) busyNs += sumOf(nodeNs);
    const upMs = performance.now() - this.#startedAt;
    const busyShare = busyNs / 1e6 / upMs / seatCount;
    return { count, lost: this.#lostCount, busySeconds: busyNs / 1e9, busyShare, hangs };
  }
}

function sumOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}
