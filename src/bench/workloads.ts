import type { EngineHost } from "../evaluation/evaluation.ts";
import type { Panel } from "../panel.ts";
import { measureConditions } from "./conditions.ts";
import { measureHistory, type Repetition } from "./history.ts";
import { measureLive } from "./live.ts";
import { measureNodes } from "./node_speed.ts";
import { type Formulas, openHost, publishedText } from "./open_formulas.ts";
import { measureReady } from "./ready.ts";
import { type BenchResult, benchResult, type Measured } from "./result.ts";
import { syntheticPanel } from "./synthetic_panel.ts";

/** What a caller may choose. */
export interface BenchOptions {
  readonly lanes?: number;
  readonly rows?: number;
  readonly threads?: number;
  /** Factors of the set; default: all, or those that a workload names. */
  readonly select?: readonly string[];
  /** Share of bars that are missing. */
  readonly nulls?: number;
  readonly blockRows?: number;
  /** Rows that are measured live. */
  readonly calls?: number;
}

export type BenchOption = keyof BenchOptions;

type OnProgress = (done: number, total: number) => void;

/** What a workload is run with. */
interface Setup {
  readonly host: EngineHost;
  readonly panel: Panel;
  readonly options: BenchOptions;
  readonly calls: number;
  readonly repetition: Repetition;
  readonly onProgress: OnProgress;
}

export interface Workload {
  readonly name: string;
  readonly summary: string;
  /** Options that mean something to it. */
  readonly takes: readonly BenchOption[];
  readonly defaults: BenchOptions;
  readonly measure: (setup: Setup) => Promise<Measured>;
}

const LANES_DEFAULT = 4096;
const ROWS_DEFAULT = 1024;
const CALLS_DEFAULT = 300;
const NULLS_DEFAULT = 0.01;
/** Of runs of half a second the median of three would be one of the first, in which V8 still compiles. */
const REPETITION_DEFAULT: Repetition = { runs: 3, totalMsMin: 3000 };

/** V8 compiles what calls run for the better part of a thousand; a session's warm-up is as long where history is. */
const WARM_UP_ROWS = 1000;

/** Formulas of alpha101 that KunQuant, the fastest of the peers, does not have: left out, so that both do the same. */
const PEER_LACKS = [48, 56, 58, 59, 63, 67, 69, 70, 76, 79, 80, 82, 87, 89, 90, 91, 93, 97, 100];

/** Of about 20 operators, all of them elementwise, over seven fields. */
const CHAIN = [
  "chain = max(min((close - open) / open * 100, 5), -5) * abs((high - low) / (high + low))",
  "+ sqrt(volume / 1000000) - (2 * close - high - low) / (amount + 1) * sign(close - vwap) + volume * vwap",
].join(" ");

/** The returns and the volume are nearly free of ties, the prices have few, places in windows of 10 rows many. */
const RANKS =
  "close_ = rank(close)\nreturns_ = rank(returns)\nvolume_ = rank(volume)\nties = rank(ts_rank(close, 10))";

export const WORKLOADS: readonly Workload[] = [
  history("alpha101", "82 of the 101 formulas over history"),
  history("alpha158", "the 158 formulas of Qlib over history"),
  live("alpha101", "82 of the 101 formulas, one row a call"),
  live("alpha158", "the 158 formulas of Qlib, one row a call"),
  {
    name: "rank",
    summary: "rank across a row, ns an element on one thread: prices, returns, volume, ties",
    takes: ["lanes", "rows", "nulls", "blockRows"],
    defaults: { rows: 512, blockRows: 16, threads: 1 },
    measure: ({ host, panel, options }) =>
      measureNodes(host, { name: "rank", text: RANKS }, panel, options.blockRows),
  },
  {
    name: "elementwise",
    summary: "a chain of elementwise operators in one kernel, cells a second",
    takes: ["lanes", "rows", "threads", "nulls", "blockRows"],
    defaults: {},
    measure: ({ host, panel, options }) =>
      measureNodes(host, { name: "elementwise", text: CHAIN }, panel, options.blockRows),
  },
  {
    name: "live-conditions",
    summary: "1,000 formulas under 50 conditions, 2 of them true, one row a call",
    takes: ["lanes", "rows", "threads", "nulls", "calls"],
    defaults: {},
    measure: ({ host, panel, calls, onProgress }) => measureConditions(host, panel, { calls, onProgress }),
  },
  {
    name: "ready",
    summary: "the text of all published formulas to the first row evaluated",
    takes: ["lanes", "threads", "nulls"],
    defaults: { rows: 1 },
    measure: ({ host, panel, onProgress }) => measureReady(host, panel, onProgress),
  },
];

function history(set: string, summary: string): Workload {
  return {
    name: `history-${set}`,
    summary,
    takes: ["lanes", "rows", "threads", "select", "nulls", "blockRows"],
    defaults: defaultsOf(set),
    measure: ({ host, panel, options, repetition, onProgress }) =>
      measureHistory(host, formulasOf(set, options), panel, {
        blockRows: options.blockRows,
        ...repetition,
        onProgress,
      }),
  };
}

function live(set: string, summary: string): Workload {
  return {
    name: `live-${set}`,
    summary,
    takes: ["lanes", "rows", "threads", "select", "nulls", "calls"],
    defaults: defaultsOf(set),
    measure: ({ host, panel, options, calls, onProgress }) =>
      measureLive(host, formulasOf(set, options), panel, { calls, warmUpRowsMin: WARM_UP_ROWS, onProgress }),
  };
}

function defaultsOf(set: string): BenchOptions {
  if (set !== "alpha101") return {};
  const numbers = Array.from({ length: 101 }, (_, index) => index + 1);
  const select = numbers.filter((number) => !PEER_LACKS.includes(number)).map(alphaName);
  return { nulls: 0, select };
}

function alphaName(number: number): string {
  return `alpha${String(number).padStart(3, "0")}`;
}

/** The formulas of `history-` and `live-` workloads of a set. */
export function defaultFormulas(set: string): Formulas {
  return formulasOf(set, defaultsOf(set));
}

function formulasOf(set: string, { select }: BenchOptions): Formulas {
  return { name: `${set}.factors`, text: publishedText(set), select };
}

/**
 * Makes the panel, starts the threads and runs a workload.
 *
 * @throws as `openFormulas`.
 */
export async function runWorkload(
  workload: Workload,
  given: BenchOptions,
  {
    repetition = REPETITION_DEFAULT,
    onProgress = () => {},
  }: { repetition?: Repetition; onProgress?: OnProgress } = {},
): Promise<BenchResult> {
  const options = { ...workload.defaults, ...given };
  const { lanes = LANES_DEFAULT, rows = ROWS_DEFAULT } = options;
  const { nulls: nullShare = NULLS_DEFAULT, calls = CALLS_DEFAULT } = options;
  const panel = syntheticPanel({ lanes, rows, nullShare });
  await using host = await openHost({ threads: options.threads });
  const measured = await workload.measure({ host, panel, options, calls, repetition, onProgress });
  const shape = { workload: workload.name, lanes, threads: host.threads, nullShare };
  return benchResult({ ...shape, rows: workload.takes.includes("calls") ? calls : rows }, measured);
}
