import { readFileSync, writeFileSync } from "node:fs";
import type { ProcessCluster } from "./processes/process_cluster.ts";
import { processes } from "./processes/process_group.ts";

const SAMPLE_MS = 200;

/** Watches the peak resident size, in bytes, of the workers of a cluster and of their executors. */
export class PeakMemory {
  readonly workers = new Map<number, number>();
  readonly executors = new Map<number, number>();
  readonly #dask: ProcessCluster;
  readonly #timer: NodeJS.Timeout;

  static async start(dask: ProcessCluster): Promise<PeakMemory> {
    // What a process has had before does not count.
    for (const pid of await dask.workerPids()) writeFileSync(`/proc/${pid}/clear_refs`, "5");
    return new PeakMemory(dask);
  }

  private constructor(dask: ProcessCluster) {
    this.#dask = dask;
    this.#timer = setInterval(() => void this.#sample(), SAMPLE_MS);
  }

  /** The largest of each kind. */
  stop(): { worker: number; executor: number } {
    clearInterval(this.#timer);
    const [worker, executor] = [this.workers, this.executors].map((peaks) => Math.max(0, ...peaks.values()));
    return { worker: worker!, executor: executor! };
  }

  async #sample(): Promise<void> {
    const workers = await this.#dask.workerPids();
    for (const { pid, parent, command } of await processes()) {
      if (workers.includes(pid)) keepPeak(this.workers, pid);
      if (workers.includes(parent) && command.includes("executor_process")) keepPeak(this.executors, pid);
    }
  }
}

function keepPeak(peaks: Map<number, number>, pid: number): void {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const bytes = 1024 * Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    peaks.set(pid, Math.max(bytes, peaks.get(pid) ?? 0));
  } catch {
    // It has ended.
  }
}
