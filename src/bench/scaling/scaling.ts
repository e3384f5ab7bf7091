import { setTimeout as wait } from "node:timers/promises";
import { EXECUTOR_TIMES, type ExecutorTime, type ThreadTimes } from "../../execution/times/thread_times.ts";
import type { Panel } from "../../panel.ts";
import type { NodeKind } from "../../plan/plan.ts";
import { type Formulas, openFormulas, openHost } from "../open_formulas.ts";
import { type MsPerRow, msPerRow, sum } from "../result.ts";
import { runBlocks, runRow } from "../run_blocks.ts";
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

/** Live rows are those of a panel of this length, again and again. */
const PANEL_ROWS = 512;

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
    const { kindNs, ...measured } = await measure(formulas, panel, { threads, calls: live ? rows : null });
    first ??= { kindNs, ...measured };
    const [one, ms] = [first, measured.msPerRow];
    const speedup = live ? one.msPerRow.p50 / ms.p50 : one.msPerRow.mean / ms.mean;
    const kinds = [...kindNs].map(([kind, ns]) => ({ kind, ns, slower: ns / one.kindNs.get(kind)! }));
    results.push({ threads, speedup, ceiling, ...measured, kinds });
    onProgress(results.length, counts.length);
  }
  return results;
}

/** What needs no comparison; `kindNs` is ns of parts a row. */
interface Measured extends Omit<Scaling, "threads" | "speedup" | "ceiling" | "kinds"> {
  readonly kindNs: ReadonlyMap<NodeKind, number>;
}

async function measure(
  formulas: Formulas,
  panel: Panel,
  { threads, calls }: { readonly threads: number; readonly calls: number | null },
): Promise<Measured> {
  await using host = await openHost({ threads, notesTimes: true });
  const blockRows = calls === null ? undefined : 1;
  await using opened = await openFormulas(host, formulas, panel, { blockRows, keepsResults: false });
  const { evaluation } = opened;
  // ms of each call, or of each block by its rows.
  const run = async (passes: number, rows: number): Promise<number[]> => {
    const ms: number[] = [];
    if (calls !== null) for (let row = 0; row < rows; row++) ms.push(await runRow(evaluation, panel, row));
    else for (let pass = 0; pass < passes; pass++) ms.push(...(await runBlocks(evaluation, panel)));
    return ms;
  };
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
  const spent = (name: keyof ThreadTimes) => after.times[name] - before.times[name];
  const executorMs = sum(EXECUTOR_TIMES.map(spent));
  const shares = Object.fromEntries(EXECUTOR_TIMES.map((name) => [name, spent(name) / executorMs]));
  return {
    msPerRow: msPerRow(wallMs, rows, rowMs),
    shares: shares as Scaling["shares"],
    mainShare: 1 - spent("underWay") / wallMs,
    schedulerShare: spent("handling") / wallMs,
    eventNs: (1e6 * spent("handling")) / spent("events"),
    parts: spent("parts") / rows,
    hops: spent("hops") / rows,
    sleeps: spent("sleeps") / rows,
    switches: (after.switches - before.switches) / rows,
    kindNs,
  };
}
