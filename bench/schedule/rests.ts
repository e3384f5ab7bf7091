import { setTimeout as delay } from "node:timers/promises";
import { type MsPerRow, median, msPerRow, sum } from "../../src/bench/result.ts";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { compile } from "../../src/compile.ts";
import { Engine } from "../../src/engine.ts";
import type { CatchUpPolicy } from "../../src/live/options.ts";
import type { Panel } from "../../src/panel.ts";
import { rowsOf } from "./rows_of.ts";

/** Rows of the panel that is pushed again and again. */
const PANEL_ROWS = 512;
const WARM_UP_PUSHES = 300;
const FACTORS = 10;

export interface RestOptions {
  readonly lanes: number;
  readonly threads: number;
  /** Pushes between two that want a factor. */
  readonly pushes: number;
  readonly rounds: number;
  /** Between two pushes; 0: they follow each other at once. */
  readonly everyMs: number;
  readonly onProgress: (done: number, total: number) => void;
}

/** Ten factors one of which is wanted at a time. */
const KINDS = {
  recursions: (k: number) => `ema(ts_mean(close, ${20 + k}), 10)`,
  windows: (k: number) => `ts_corr(close, volume, ${60 + 10 * k})`,
} as const;

export interface RestFigures {
  readonly factors: keyof typeof KINDS;
  readonly catchUp: CatchUpPolicy;
  /** Of all pushes. */
  readonly ms: MsPerRow;
  /** Of pushes that want a factor which none of the pushes before them wanted: the median of the rounds. */
  readonly firstMs: number;
  /** Nodes that the last of these left out. */
  readonly nodesPruned: number;
}

/** What a push costs that wants a factor again after many that did not. */
export async function measureRests(options: RestOptions): Promise<RestFigures[]> {
  const panel = syntheticPanel({ lanes: options.lanes, rows: PANEL_ROWS, nullShare: 0.01 });
  await using engine = await Engine.start({ threads: options.threads });
  const figures: RestFigures[] = [];
  const total = 2 * Object.keys(KINDS).length;
  for (const factors of ["recursions", "windows"] as const)
    for (const catchUp of ["idle", "on_demand"] as const) {
      figures.push({ factors, catchUp, ...(await measure(engine, panel, factors, catchUp, options)) });
      options.onProgress(figures.length, total);
    }
  return figures;
}

async function measure(
  engine: Engine,
  panel: Panel,
  factors: keyof typeof KINDS,
  catchUp: CatchUpPolicy,
  { pushes, rounds, everyMs }: RestOptions,
): Promise<Pick<RestFigures, "ms" | "firstMs" | "nodesPruned">> {
  const lines = Array.from({ length: FACTORS }, (_, k) => `f${k} = ${KINDS[factors](k)} when wanted == ${k}`);
  const program = compile(["param wanted = 0", ...lines].join("\n"), { fields: [...panel.fields.keys()] });
  await using session = await engine.openSession(program, { warmup: rowsOf(panel, 0, 0), catchUp });
  let row = 0;
  const push = async (wanted: number) => {
    const at = row % PANEL_ROWS;
    const bar = rowsOf(panel, at, at + 1);
    const time = { ...bar.time, values: BigInt64Array.of(BigInt(row++)) };
    const started = performance.now();
    const { timing } = await session.push({ ...bar, time }, { params: { wanted } });
    const ms = performance.now() - started;
    if (everyMs > 0) await delay(everyMs);
    return { ms, nodesPruned: timing.nodesPruned };
  };
  for (let i = 0; i < WARM_UP_PUSHES; i++) await push(i % FACTORS);
  const all: number[] = [];
  const firsts: number[] = [];
  let nodesPruned = 0;
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < pushes; i++) all.push((await push(1)).ms);
    const first = await push(2 + (round % (FACTORS - 2)));
    firsts.push(first.ms);
    nodesPruned = first.nodesPruned;
  }
  return { ms: msPerRow(sum(all), all.length, all), firstMs: median(firsts), nodesPruned };
}
