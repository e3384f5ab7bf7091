import { suppressUnhandled } from "../evaluation/awaiting.ts";
import type { Evaluation } from "../evaluation/evaluation.ts";
import { OVERLAPPING_BLOCKS_MAX } from "../execution/executor_pool.ts";
import type { BlockRows } from "../execution/open_plan.ts";
import type { Panel } from "../panel.ts";
import { peakRssBytes } from "./result.ts";

/** What is known of an evaluation before its times are. */
export function sizesOf({ plan, kernelMs, arenaBytes, stateBytes }: Evaluation) {
  const factors = plan.outputs.length;
  return {
    blockRows: plan.blockRows,
    factors,
    kernelMs,
    arenaBytes,
    stateBytes,
    peakRssBytes: peakRssBytes(),
  };
}

export interface RunBlocksOptions {
  /** Rows to run; after the panel's last one its first one follows again. Default: those of the panel. */
  readonly rows?: number;
  /** Most blocks under way at a time. */
  readonly overlap?: number | undefined;
  /** Called after each block, in order, before the block `overlap` blocks later begins. */
  readonly onBlock?: (block: BlockRows) => void;
}

/**
 * Runs a panel's rows in blocks, a few at a time, so that executors do not idle at the end of one.
 *
 * @returns The wall time of each block by its rows, in ms.
 * @throws as `Evaluation.run`.
 */
export async function runBlocks(
  evaluation: Evaluation,
  { rowCount: panelRows }: Panel,
  { rows = panelRows, overlap = OVERLAPPING_BLOCKS_MAX, onBlock }: RunBlocksOptions = {},
): Promise<number[]> {
  const rowMs: number[] = [];
  let before = performance.now();
  const underWay: { readonly block: BlockRows; readonly running: Promise<void> }[] = [];
  const awaitOldest = async () => {
    const { block, running } = underWay.shift()!;
    await running;
    const now = performance.now();
    rowMs.push((now - before) / block.rowCount);
    before = now;
    onBlock?.(block);
  };
  for (let row = 0; row < rows; ) {
    const inputRow = row % panelRows;
    const rowCount = Math.min(evaluation.plan.blockRows, rows - row, panelRows - inputRow);
    if (underWay.length === overlap) await awaitOldest();
    const block = { rowCount, inputRow, outputRow: 0 };
    underWay.push({ block, running: suppressUnhandled(evaluation.run(block)) });
    row += rowCount;
  }
  while (underWay.length > 0) await awaitOldest();
  return rowMs;
}

/** Runs one row of a panel, whose first one follows again after its last one; its wall time in ms. */
export async function runRow(
  evaluation: Evaluation,
  { rowCount }: Panel,
  row: number,
  conditions?: readonly boolean[],
): Promise<number> {
  const started = performance.now();
  await evaluation.run({ rowCount: 1, inputRow: row % rowCount, outputRow: 0 }, undefined, conditions);
  return performance.now() - started;
}
