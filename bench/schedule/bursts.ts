import type { Formulas } from "../../src/bench/open_formulas.ts";
import { median } from "../../src/bench/result.ts";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { compile } from "../../src/compile.ts";
import { Engine } from "../../src/engine.ts";
import type { TraceEvent } from "../../src/execution/trace/trace_events.ts";
import type { LiveSession } from "../../src/live/session/session.ts";
import type { Panel } from "../../src/panel.ts";
import { rowsOf } from "./rows_of.ts";

/** Rows before the first burst: the windows of alpha101 are full. */
const WARM_UP_ROWS = 256;

export interface BurstOptions {
  readonly lanes: number;
  readonly threads: number;
  /** Rows of a burst. */
  readonly rows: number;
  readonly rounds: number;
  readonly onProgress: (done: number, total: number) => void;
}

/** How rows come: each awaited, none awaited, all in one push, none awaited with params that change with each. */
type Manner = "one by one" | "burst" | "one push" | "alternating params";

export interface BurstFigures {
  readonly manner: Manner;
  /** Median of the rounds, from the first push to the last table. */
  readonly msPerRow: number;
  /** By that of rows one by one in the same round: the median. */
  readonly ratio: number;
  /** Rows of which a part began before the last part of the row before had ended; of the last round. */
  readonly overlapping: number;
}

const MANNERS: readonly Manner[] = ["one by one", "burst", "one push", "alternating params"];

/** A row of a session beside the row before: what pushes that are not awaited gain. */
export async function measureBursts(
  formulas: Formulas,
  { lanes, threads, rows, rounds, onProgress }: BurstOptions,
): Promise<BurstFigures[]> {
  const panel = syntheticPanel({
    lanes,
    rows: WARM_UP_ROWS + rows * rounds * MANNERS.length,
    nullShare: 0.01,
  });
  const spans: TracedSpans = new Map();
  await using engine = await Engine.start({ threads, trace: (events) => noteSpans(spans, events) });
  // Two conditional factors, so that params can change what runs.
  const text = `param side = 0\n${formulas.text}\neven = ts_mean(rank(close), 9) when side == 0\nodd = ts_std(rank(volume), 9) when side == 1\n`;
  const program = compile(text, {
    file: formulas.name,
    fields: [...panel.fields.keys()],
    groups: [...panel.groups.keys()],
  });
  await using session = await engine.openSession(program, { warmup: rowsOf(panel, 0, WARM_UP_ROWS) });
  const measured = MANNERS.map(() => ({ ms: [] as number[], ratios: [] as number[], overlapping: 0 }));
  let row = WARM_UP_ROWS;
  for (let round = 0; round < rounds; round++) {
    for (const [index, manner] of MANNERS.entries()) {
      spans.clear();
      const bars = Array.from({ length: rows }, (_, bar) => rowsOf(panel, row + bar, row + bar + 1));
      const whole = rowsOf(panel, row, row + rows);
      row += rows;
      const started = performance.now();
      await push(session, manner, bars, whole);
      const ms = (performance.now() - started) / rows;
      measured[index]!.ms.push(ms);
      measured[index]!.ratios.push(ms / measured[0]!.ms.at(-1)!);
      // The trace comes in batches.
      await new Promise((resolve) => setTimeout(resolve, 300));
      measured[index]!.overlapping = overlapping(spans);
      onProgress(round * MANNERS.length + index + 1, rounds * MANNERS.length);
    }
  }
  return MANNERS.map((manner, index) => {
    const { ms, ratios, overlapping: count } = measured[index]!;
    return { manner, msPerRow: median(ms), ratio: median(ratios), overlapping: count };
  });
}

async function push(
  session: LiveSession,
  manner: Manner,
  bars: readonly Panel[],
  whole: Panel,
): Promise<void> {
  if (manner === "one by one") for (const bar of bars) await session.push(bar);
  else if (manner === "one push") await session.push(whole);
  else {
    const paramsOf = (index: number) => ({ params: { side: manner === "burst" ? 0 : index % 2 } });
    await Promise.all(bars.map((bar, index) => session.push(bar, paramsOf(index))));
  }
}

/** First start and last end of the parts of each block, by its number. */
type TracedSpans = Map<number, { start: number; end: number }>;

function noteSpans(spans: TracedSpans, events: readonly TraceEvent[]): void {
  for (const event of events) {
    if (event.kind !== "part") continue;
    const { block, startMs, ns } = event;
    const end = startMs + ns / 1e6;
    const span = spans.get(block);
    if (!span) spans.set(block, { start: startMs, end });
    else {
      span.start = Math.min(span.start, startMs);
      span.end = Math.max(span.end, end);
    }
  }
}

function overlapping(spans: TracedSpans): number {
  let count = 0;
  for (const [block, { start }] of spans) if ((spans.get(block - 1)?.end ?? 0) > start) count++;
  return count;
}
