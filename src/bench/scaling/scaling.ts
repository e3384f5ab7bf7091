import { setTimeout as wait } from "node:timers/promises";
import type { Evaluation } from "../../evaluation/evaluation.ts";
import { startHost } from "../../evaluation/start_host.ts";
import { EXECUTOR_TIMES, type ExecutorTime, type ThreadTimes } from "../../execution/times/thread_times.ts";
import { machineMemoryBytes } from "../../limits.ts";
import type { Panel } from "../../panel.ts";
import type { NodeKind } from "../../plan/plan.ts";
import { type Formulas, openFormulas } from "../open_formulas.ts";
import { type MsPerRow, msPerRow, sum } from "../result.ts";
import { runBlocks } from "../run_blocks.ts";
import { syntheticPanel } from "../synthetic_panel.ts";
import { defaultFormulas } from "../workloads.ts";
import { type Ceiling, measureCeiling } from "./ceiling.ts";
import { threadCounts } from "./thread_counts.ts";

export interface ScalingOptions {
  /** The most threads; 1, 2, 4 ... are measured as well. */
  readonly threads: number;
  readonly lanes: number;
  /** Rows of history, or live calls. */
  readonly rows: number;
  /** One row a call, instead of history in blocks. */
  readonly live: boolean;
  readonly onProgress: (done: number, total: number) => void;
}

/** How much faster alpha101 gets with more threads, and where the rest of their time goes. */
export interface Scaling {
  readonly threads: number;
  /** Times of rows; in history those of blocks, divided by their rows. */
  readonly msPerRow: MsPerRow;
  /** The time of a row with one thread, divided by that with `threads`: of the median row live, of all rows in history. */
  readonly speedup: number;
  /** The speed-up of loops that share nothing. */
  readonly ceiling: Ceiling;
  /** What the executors' time goes to, as shares of it. */
  readonly shares: Readonly<Record<ExecutorTime, number>>;
  /** Share of the time in which no run was with the scheduler's thread: the main thread's own. */
  readonly mainShare: number;
  /** Share of the time in which the scheduler's thread handled events, and ns for each. */
  readonly schedulerShare: number;
  readonly eventNs: number;
  /** A row: parts, parts whose last input another executor computed, and threads that went to sleep. */
  readonly parts: number;
  readonly hops: number;
  readonly sleeps: number;
  /** How often the system took a core away from a thread of the process, a row. */
  readonly switches: number;
  /** ns of parts a row by the kind of their node, and how many times those with one thread they take. */
  readonly kinds: readonly { readonly kind: NodeKind; readonly ns: number; readonly slower: number }[];
}

/** How often history is run, after one more time while V8 compiles. */
const PASSES = 3;
/** Calls before those that are measured, while V8 compiles and costs are measured. */
const WARM_UP_ROWS = 1000;

/** Evaluates the same bars with more and more threads. */
export async function measureScaling(options: ScalingOptions): Promise<Scaling[]> {
  const { threads: most, lanes, rows, live, onProgress } = options;
  const panel = syntheticPanel({ lanes, rows: live ? PANEL_ROWS : rows, nullShare: 0 });
  const formulas = defaultFormulas("alpha101");
  const counts = threadCounts(most);
  const results: Scaling[] = [];
  let first: Measured | null = null;
  for (const threads of counts) {
    const ceiling = await measureCeiling(threads);
    const measured = await measure(formulas, panel, { threads, calls: live ? rows : null });
    first ??= measured;
    results.push(scalingOf(threads, measured, first, ceiling, live));
    onProgress(results.length, counts.length);
  }
  return results;
}

/** Live rows are those of a panel of this length, again and again. */
const PANEL_ROWS = 512;

interface Measured {
  readonly rows: number;
  readonly wallMs: number;
  readonly msPerRow: MsPerRow;
  readonly times: ThreadTimes;
  readonly switches: number;
  readonly kindNs: ReadonlyMap<NodeKind, number>;
}

async function measure(
  formulas: Formulas,
  panel: Panel,
  { threads, calls }: { readonly threads: number; readonly calls: number | null },
): Promise<Measured> {
  const host = await startHost({ threads, memoryLimitBytes: machineMemoryBytes(), notesTimes: true });
  try {
    const blockRows = calls === null ? undefined : 1;
    const { evaluation } = await openFormulas(host, formulas, panel, { blockRows, keepsResults: false });
    const run = async (passes: number, rows: number) =>
      calls === null ? await runHistory(evaluation, panel, passes) : await runCalls(evaluation, panel, rows);
    // The sums of a run follow its end.
    const noted = async (runs: number) => {
      while (host.pool.times!.runs < runs) await wait(1);
    };
    const sample = () => ({
      times: host.pool.times!,
      switches: process.resourceUsage().involuntaryContextSwitches,
      nodeNs: Float64Array.from(evaluation.openPlan.nodeNs),
    });
    const warmUp = await run(1, WARM_UP_ROWS);
    await noted(warmUp.length);
    const before = sample();
    const started = performance.now();
    const rowMs = await run(PASSES, calls ?? 0);
    const wallMs = performance.now() - started;
    await noted(warmUp.length + rowMs.length);
    const after = sample();
    const rows = calls ?? PASSES * panel.rowCount;
    const kindNs = new Map<NodeKind, number>();
    for (const { id, kind } of evaluation.plan.nodes) {
      const ns = (after.nodeNs[id]! - before.nodeNs[id]!) / rows;
      kindNs.set(kind, (kindNs.get(kind) ?? 0) + ns);
    }
    const times = Object.fromEntries(
      Object.entries(after.times).map(([name, total]) => [
        name,
        total - before.times[name as keyof ThreadTimes],
      ]),
    ) as unknown as ThreadTimes;
    await evaluation.close();
    return {
      rows,
      wallMs,
      msPerRow: msPerRow(wallMs, rows, rowMs),
      times,
      switches: after.switches - before.switches,
      kindNs,
    };
  } finally {
    await host.pool.close();
  }
}

/** One row a call: ms of each. */
async function runCalls(evaluation: Evaluation, { rowCount }: Panel, calls: number): Promise<number[]> {
  const ms: number[] = [];
  for (let row = 0; row < calls; row++) {
    const started = performance.now();
    await evaluation.run({ rowCount: 1, inputRow: row % rowCount, outputRow: 0 });
    ms.push(performance.now() - started);
  }
  return ms;
}

/** All rows in blocks, several times one after the other: ms of each block by its rows. */
async function runHistory(evaluation: Evaluation, panel: Panel, passes: number): Promise<number[]> {
  const ms: number[] = [];
  for (let pass = 0; pass < passes; pass++) {
    let before = performance.now();
    await runBlocks(evaluation, panel, {
      onBlock: ({ rowCount }) => {
        const now = performance.now();
        ms.push((now - before) / rowCount);
        before = now;
      },
    });
  }
  return ms;
}

function scalingOf(
  threads: number,
  { rows, wallMs, msPerRow: ms, times, switches, kindNs }: Measured,
  first: Measured,
  ceiling: Ceiling,
  live: boolean,
): Scaling {
  const executorMs = sum(EXECUTOR_TIMES.map((name) => times[name]));
  const shares = Object.fromEntries(EXECUTOR_TIMES.map((name) => [name, times[name] / executorMs]));
  return {
    threads,
    msPerRow: ms,
    speedup: live ? first.msPerRow.p50 / ms.p50 : first.msPerRow.mean / ms.mean,
    ceiling,
    shares: shares as Scaling["shares"],
    mainShare: 1 - times.underWay / wallMs,
    schedulerShare: times.handling / wallMs,
    eventNs: (1e6 * times.handling) / times.events,
    parts: times.parts / rows,
    hops: times.hops / rows,
    sleeps: times.sleeps / rows,
    switches: switches / rows,
    kinds: [...kindNs].map(([kind, ns]) => ({ kind, ns, slower: ns / first.kindNs.get(kind)! })),
  };
}
