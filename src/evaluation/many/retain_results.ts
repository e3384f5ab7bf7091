import type { RowRange } from "../../data/panel/panel_source.ts";
import { OVERLAPPING_BLOCKS_MAX } from "../../execution/executor_pool.ts";
import type { BlockRows, Evaluation } from "../evaluation.ts";
import { runBlocks } from "../run_blocks.ts";
import type { RetainedResults } from "./retained_results.ts";

export interface RetainingRun {
  readonly evaluation: Evaluation;
  readonly range: RowRange;
  readonly restartRows: readonly number[];
  readonly laneCount: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (rowsDone: number) => void;
}

/**
 * Runs all rows up to the end of the range, a few blocks under way at a time, and retains the results within it.
 *
 * @returns The rows of each retained block.
 */
export async function retainResults(run: RetainingRun, retained: RetainedResults): Promise<RowRange[]> {
  const { evaluation, range, restartRows, signal, onProgress } = run;
  const kept: RowRange[] = [];
  await runBlocks(evaluation, blocksInTurn(run), {
    signal,
    restartRows,
    onBlock: (block) => {
      const rows = keepBlock(run, block, retained);
      if (rows) kept.push(rows);
      onProgress(Math.min(range.end, block.inputRow + block.rowCount));
    },
  });
  return kept;
}

/** All rows up to the end; their results use the blocks of the result columns in turn. */
function* blocksInTurn({ evaluation, range }: RetainingRun): Generator<BlockRows> {
  const { blockRows } = evaluation.plan;
  for (let row = 0, turn = 0; row < range.end; row += blockRows, turn = (turn + 1) % OVERLAPPING_BLOCKS_MAX) {
    const rowCount = Math.min(blockRows, range.end - row);
    yield { rowCount, inputRow: row, outputRow: turn * blockRows };
  }
}

/** Retains the rows of a block within the range; null if there are none. */
function keepBlock(
  { evaluation, range, laneCount }: RetainingRun,
  { inputRow, outputRow, rowCount }: BlockRows,
  retained: RetainedResults,
): RowRange | null {
  const first = Math.max(range.first, inputRow);
  const end = inputRow + rowCount;
  if (first >= end) return null;
  const from = outputRow + first - inputRow;
  for (const [output, column] of evaluation.buffers.results.entries()) {
    if (!column) continue;
    retained.keep(output, column.subarray(from * laneCount, (outputRow + rowCount) * laneCount));
  }
  return { first, end };
}
