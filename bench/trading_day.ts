import { PerformanceObserver } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import type { Formulas } from "../src/bench/open_formulas.ts";
import { type Machine, type MsPerRow, machine, median, msPerRow, sum } from "../src/bench/result.ts";
import { syntheticPanel } from "../src/bench/synthetic_panel.ts";
import { compile } from "../src/compile.ts";
import { Engine } from "../src/engine.ts";
import type { Panel } from "../src/panel.ts";
import { rowsOf } from "./schedule/rows_of.ts";

/** Pushes come once a minute. */
const HOUR_PUSHES = 60;

/** Bars that are pushed, again from the first after the last. */
const BAR_ROWS_MAX = 256;

const NULL_SHARE = 0.01;

/** A push that takes three times as long as the median is slow. */
const SLOW = 3;

export interface TradingDayOptions {
  readonly lanes: number;
  readonly threads: number;
  /** Rows that are run when the session is opened, at least one. */
  readonly warmUpRows: number;
  readonly pushes: number;
  readonly onProgress: (done: number, total: number) => void;
}

/** The pushes of one hour, in ms, and the resident size of the process behind the last of them. */
export interface HourFigures extends MsPerRow {
  readonly pushes: number;
  readonly residentBytes: number;
}

export interface TradingDay extends Omit<TradingDayOptions, "onProgress">, Machine {
  readonly factors: number;
  /** From the text to a session that has run its warm-up. */
  readonly openMs: number;
  readonly firstPushMs: number;
  readonly msPerPush: MsPerRow;
  /** Medians: the bar into columns, evaluating, the table. */
  readonly stageMs: Readonly<Record<"stage" | "run" | "table", number>>;
  readonly hours: readonly HourFigures[];
  /** Resident size after the last hour by that after the first, less 1; without the bars that this program holds. */
  readonly residentGrowth: number;
  /** Collections of garbage on the main thread, and slow pushes that would not have been without them. */
  readonly collections: { readonly count: number; readonly longestMs: number; readonly slowPushes: number };
}

interface Span {
  readonly start: number;
  readonly ms: number;
}

/**
 * A session as a trading service keeps it: opened with a warm-up, then bar by bar, each push with its table; one after the
 * other without the minutes between them.
 *
 * @throws as `Engine.openSession`.
 */
export async function measureTradingDay(
  formulas: Formulas,
  { onProgress, ...options }: TradingDayOptions,
): Promise<TradingDay> {
  const { lanes, threads, warmUpRows, pushes } = options;
  const barRows = Math.min(pushes, BAR_ROWS_MAX);
  const panel = syntheticPanel({ lanes, rows: warmUpRows + barRows, nullShare: NULL_SHARE });
  await using engine = await Engine.start({ threads });
  const opening = performance.now();
  const program = compile(formulas.text, {
    file: formulas.name,
    fields: [...panel.fields.keys()],
    groups: [...panel.groups.keys()],
  });
  const { select } = formulas;
  const warmup = rowsOf(panel, 0, warmUpRows);
  await using session = await engine.openSession(program, { warmup, ...(select && { select }) });
  const openMs = performance.now() - opening;
  const spans: Span[] = [];
  const stages: Record<"stage" | "run" | "table", number[]> = { stage: [], run: [], table: [] };
  const resident: number[] = [];
  let factors = 0;
  const collections = await collectionsDuring(async () => {
    for (let index = 0; index < pushes; index++) {
      const time = session.lastTime! + 1n;
      const fields = fieldsOf(panel, warmUpRows + (index % barRows));
      const start = performance.now();
      const { tags, timing } = await session.push({ time, fields });
      spans.push({ start, ms: performance.now() - start });
      for (const stage of ["stage", "run", "table"] as const) stages[stage].push(timing.stageMs[stage]);
      factors = Object.keys(tags).length;
      if ((index + 1) % HOUR_PUSHES === 0 || index === pushes - 1) resident.push(process.memoryUsage.rss());
      onProgress(index + 1, pushes);
    }
  });
  const pushMs = spans.map(({ ms }) => ms);
  const figures = msPerRow(sum(pushMs), pushes, pushMs);
  return {
    ...options,
    factors,
    openMs,
    firstPushMs: pushMs[0]!,
    msPerPush: figures,
    stageMs: { stage: median(stages.stage), run: median(stages.run), table: median(stages.table) },
    hours: resident.map((residentBytes, hour) => {
      const ms = pushMs.slice(hour * HOUR_PUSHES, (hour + 1) * HOUR_PUSHES);
      return { pushes: ms.length, ...msPerRow(sum(ms), ms.length, ms), residentBytes };
    }),
    residentGrowth: (resident.at(-1)! - resident[0]!) / (resident[0]! - bytesOf(panel)),
    collections: {
      count: collections.length,
      longestMs: Math.max(0, ...collections.map(({ ms }) => ms)),
      slowPushes: spans.filter((push) => isSlowBy(push, collections, SLOW * figures.p50)).length,
    },
    ...machine(),
  };
}

/** True if the push takes longer than `slowMs`, and would not without the collections within it. */
export function isSlowBy(push: Span, collections: readonly Span[], slowMs: number): boolean {
  if (push.ms <= slowMs) return false;
  const within = collections.filter(({ start }) => start >= push.start && start < push.start + push.ms);
  return push.ms - sum(within.map(({ ms }) => ms)) <= slowMs;
}

/** Collections of garbage of this thread while `work` goes on. */
async function collectionsDuring(work: () => Promise<void>): Promise<Span[]> {
  const spans: Span[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) spans.push({ start: startTime, ms: duration });
  });
  observer.observe({ entryTypes: ["gc"] });
  try {
    await work();
    // The last entries come in a turn of their own.
    await setImmediate();
  } finally {
    observer.disconnect();
  }
  return spans;
}

function fieldsOf({ fields, laneCount }: Panel, row: number): Record<string, Float64Array> {
  const cells = [row * laneCount, (row + 1) * laneCount] as const;
  return Object.fromEntries([...fields].map(([name, values]) => [name, values.subarray(...cells)]));
}

function bytesOf({ fields }: Panel): number {
  return sum([...fields.values()].map(({ byteLength }) => byteLength));
}
