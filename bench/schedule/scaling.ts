import { totalmem } from "node:os";
import { measureHistory } from "../../src/bench/history.ts";
import type { Formulas } from "../../src/bench/open_formulas.ts";
import { digestOf } from "../../src/bench/result.ts";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { InternalError } from "../../src/errors.ts";
import { startHost } from "../../src/evaluation/start_host.ts";
import { threadCounts } from "./thread_counts.ts";

/** How much faster history gets with more threads. */
export interface Scaling {
  readonly threads: number;
  readonly wallMs: number;
  readonly msPerRow: number;
  /** Wall time with one thread, divided by that with `threads`. */
  readonly speedup: number;
}

export interface ScalingOptions {
  /** The most threads; 1, 2, 4 ... are measured as well. */
  readonly threads: number;
  readonly lanes: number;
  readonly rows: number;
  readonly onProgress: (done: number, total: number) => void;
}

const RUNS = 3;

/** Evaluates one panel with more and more threads. @throws InternalError if any bit depends on their number. */
export async function measureScaling(formulas: Formulas, options: ScalingOptions): Promise<Scaling[]> {
  const { threads: most, lanes, rows, onProgress } = options;
  const panel = syntheticPanel({ lanes, rows, nullShare: 0 });
  const counts = threadCounts(most);
  const results: Scaling[] = [];
  const digests = new Set<string>();
  for (const threads of counts) {
    const host = await startHost({ threads, memoryLimitBytes: totalmem() });
    try {
      const measured = await measureHistory(host, formulas, panel, { runs: RUNS, onProgress: () => {} });
      const { wallMs } = measured;
      digests.add(digestOf(measured.factorDigests));
      const alone = results[0]?.wallMs ?? wallMs;
      results.push({ threads, wallMs, msPerRow: wallMs / rows, speedup: alone / wallMs });
      onProgress(results.length, counts.length);
    } finally {
      await host.pool.close();
    }
  }
  if (digests.size !== 1) throw new InternalError("the bits depend on the number of threads");
  return results;
}
