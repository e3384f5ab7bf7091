import type { EngineHost } from "../evaluation/evaluation.ts";
import type { Panel } from "../panel.ts";
import { digestRun } from "./digest_run.ts";
import { type Formulas, openFormulas } from "./open_formulas.ts";
import { type Measured, msPerRow, roundedMs, sum } from "./result.ts";
import { runRow, sizesOf } from "./run_blocks.ts";

export interface LiveOptions {
  /** Calls that are measured. */
  readonly calls: number;
  /** Calls before them, at least: more where windows need more rows. */
  readonly warmUpRowsMin: number;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Evaluates one row a call: first until every window is full, then the rows that are measured. Rows are those of
 * the panel, from its first one again after its last. Calls of the warm-up with full windows have figures of their own:
 * V8 compiles beside many of them.
 */
export async function measureLive(
  host: EngineHost,
  formulas: Formulas,
  panel: Panel,
  { calls, warmUpRowsMin, onProgress }: LiveOptions,
): Promise<Measured> {
  const opening = performance.now();
  await using opened = await openFormulas(host, formulas, panel, { blockRows: 1, keepsResults: false });
  const openMs = performance.now() - opening;
  const { evaluation, lookbackRows } = opened;
  const call = async (row: number) => {
    const ms = await runRow(evaluation, panel, row);
    onProgress(row + 1, 2 * rows);
    return ms;
  };
  const fullRow = lookbackRows + 1;
  const warmUpRows = Math.max(fullRow, warmUpRowsMin);
  const rows = warmUpRows + calls;
  const readyMs = openMs + (await call(0));
  const warmUpMs: number[] = [];
  for (let row = 1; row < warmUpRows; row++) {
    const ms = await call(row);
    if (row >= fullRow) warmUpMs.push(ms);
  }
  const callMs: number[] = [];
  for (let index = 0; index < calls; index++) callMs.push(await call(warmUpRows + index));
  const wallMs = sum(callMs);
  const sizes = sizesOf(evaluation);
  // Results that are read between two calls would make the next one slower.
  await evaluation.close();
  const factorDigests = await digestRun(host, formulas, panel, { blockRows: 1, rows }, (row) =>
    onProgress(rows + row, 2 * rows),
  );
  return {
    ...sizes,
    wallMs,
    msPerRow: msPerRow(wallMs, calls, callMs),
    warmUpMsPerRow: warmUpMs.length === 0 ? null : msPerRow(sum(warmUpMs), warmUpMs.length, warmUpMs),
    callMs: roundedMs(callMs),
    cellsPerSecond: (sizes.factors * panel.laneCount * calls * 1000) / wallMs,
    readyMs,
    factorDigests,
    warmUpRows,
  };
}
