import { OVERLAPPING_BLOCKS_MAX } from "../execution/executor_pool.ts";
import { heeded } from "./awaiting.ts";
import type { BlockRows, Evaluation } from "./evaluation.ts";
import type { MemoryBudget } from "./memory_budget.ts";
import type { RetainedResults } from "./retained_results.ts";
import type { RowRange } from "./row_range.ts";

/** Blocks that result columns have room for: while executors write some, the one before is copied. */
export const BLOCKS_WRITTEN = OVERLAPPING_BLOCKS_MAX;

export interface RetainingRun {
  readonly evaluation: Evaluation;
  readonly budget: MemoryBudget;
  readonly range: RowRange;
  readonly laneCount: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (rowsDone: number) => void;
}

/**
 * Runs all rows up to the end of the range, a few blocks under way at a time, and retains what comes out for those in it.
 * No block starts while the memory is too full.
 *
 * @returns The rows of each block that was retained.
 */
export async function retainResults(run: RetainingRun, retained: RetainedResults): Promise<RowRange[]> {
  const { evaluation, budget, range, signal, onProgress } = run;
  const kept: RowRange[] = [];
  const underWay: { readonly block: BlockRows; readonly running: Promise<void> }[] = [];
  const takeOldest = async () => {
    const { block, running } = underWay.shift()!;
    await running;
    const rows = keepBlock(run, block, retained);
    if (rows) kept.push(rows);
    onProgress(block.inputRow + block.rowCount);
  };
  for (const block of blocksInTurn(range.end, evaluation.plan.blockRows)) {
    if (underWay.length === BLOCKS_WRITTEN) await takeOldest();
    await budget.admitBlock();
    underWay.push({ block, running: heeded(evaluation.run(block, signal)) });
  }
  while (underWay.length > 0) await takeOldest();
  return kept;
}

/** All rows up to the end, the results by turns in each of the blocks of the result columns. */
function* blocksInTurn(end: number, blockRows: number): Generator<BlockRows> {
  for (let row = 0, turn = 0; row < end; row += blockRows, turn = (turn + 1) % BLOCKS_WRITTEN) {
    yield { rowCount: Math.min(blockRows, end - row), inputRow: row, outputRow: turn * blockRows };
  }
}

/** Retains the rows of a block that lie in the range; null if there are none. */
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
