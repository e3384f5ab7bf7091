import type { EngineHost } from "../evaluation/evaluation.ts";
import type { Panel } from "../panel.ts";
import { digestRun } from "./digest_run.ts";
import { type Formulas, openFormulas } from "./open_formulas.ts";
import { type Measured, msPerRow, roundedMs, sum } from "./result.ts";
import { runBlocks, sizesOf } from "./run_blocks.ts";

/** How often a panel is run; the run of median time counts, of an even number the slower one in the middle. */
export interface Repetition {
  readonly runs: number;
  /** Up to `RUNS_MAX` runs follow until all have taken so long together. Default 0. */
  readonly totalMsMin?: number;
}

const RUNS_MAX = 15;

export interface HistoryOptions extends Repetition {
  readonly blockRows?: number | undefined;
  /** Blocks under way at a time. */
  readonly overlap?: number | undefined;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Streams a panel in memory through formulas in blocks of rows, by all threads, with bringing the panel's rows into
 * the arena. Every run starts from state that has seen nothing. Digests are those of a further run, which keeps results
 * and is not timed.
 */
export async function measureHistory(
  host: EngineHost,
  formulas: Formulas,
  panel: Panel,
  { blockRows, overlap, runs, totalMsMin = 0, onProgress }: HistoryOptions,
): Promise<Measured> {
  const measured: TimedRun[] = [];
  const totalMs = () => sum(measured.map(({ wallMs }) => wallMs));
  for (let run = 0; run < runs || (run < RUNS_MAX && totalMs() < totalMsMin); run++) {
    measured.push(
      await measureRun(host, formulas, panel, { blockRows, overlap }, (row) => {
        onProgress(run * panel.rowCount + row, (Math.max(runs, run + 1) + 1) * panel.rowCount);
      }),
    );
  }
  // Only the first run compiles, for V8 keeps the code of a module that it has met, and only it has one arena.
  const { readyMs, kernelMs, peakRssBytes: peakBytes } = measured[0]!;
  const runMs = roundedMs(measured.map(({ wallMs }) => wallMs));
  const sorted = measured.sort((a, b) => a.wallMs - b.wallMs);
  const median = sorted[sorted.length >> 1]!;
  const factorDigests = await digestRun(host, formulas, panel, { blockRows, rows: panel.rowCount }, (row) => {
    onProgress(measured.length * panel.rowCount + row, (measured.length + 1) * panel.rowCount);
  });
  return { ...median, runMs, readyMs, kernelMs, peakRssBytes: peakBytes, factorDigests };
}

type TimedRun = Omit<Measured, "factorDigests">;

async function measureRun(
  host: EngineHost,
  formulas: Formulas,
  panel: Panel,
  { blockRows, overlap }: Pick<HistoryOptions, "blockRows" | "overlap">,
  onRows: (row: number) => void,
): Promise<TimedRun> {
  const { rowCount, laneCount } = panel;
  const opening = performance.now();
  await using opened = await openFormulas(host, formulas, panel, { blockRows, keepsResults: false });
  let readyMs = 0;
  const started = performance.now();
  const rowMs = await runBlocks(opened.evaluation, panel, {
    overlap,
    onBlock: ({ inputRow, rowCount: count }) => {
      if (inputRow === 0) readyMs = performance.now() - opening;
      onRows(inputRow + count);
    },
  });
  const wallMs = performance.now() - started;
  const sizes = sizesOf(opened.evaluation);
  return {
    ...sizes,
    wallMs,
    msPerRow: msPerRow(wallMs, rowCount, rowMs),
    cellsPerSecond: (sizes.factors * laneCount * rowCount * 1000) / wallMs,
    readyMs,
  };
}
