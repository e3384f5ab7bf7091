import { OVERLAPPING_BLOCKS_MAX } from "../execution/executor_pool.ts";
import { suppressUnhandled } from "./awaiting.ts";
import type { BlockRows, Evaluation } from "./evaluation.ts";

export interface RunBlocksOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called after each block, in order, before the block `overlap` blocks later begins. */
  readonly onBlock?: (block: BlockRows) => void;
  /** Which conditions hold in a block (`Evaluation.run`). */
  readonly conditionsIn?: (block: BlockRows) => readonly boolean[] | undefined;
  /** Rows of the input from which on none came before; they cut blocks. */
  readonly restartRows?: readonly number[];
  /** Most blocks under way at a time; never changes a bit. */
  readonly overlap?: number;
}

/**
 * Runs blocks in order, a few at a time, so that executors do not idle at the end of one.
 *
 * @throws as `Evaluation.run`.
 */
export async function runBlocks(
  evaluation: Evaluation,
  blocks: Iterable<BlockRows>,
  {
    signal,
    onBlock,
    conditionsIn,
    restartRows = [],
    overlap = OVERLAPPING_BLOCKS_MAX,
  }: RunBlocksOptions = {},
): Promise<void> {
  const underWay: { readonly block: BlockRows; readonly running: Promise<void> }[] = [];
  const awaitOldest = async () => {
    const { block, running } = underWay.shift()!;
    await running;
    onBlock?.(block);
  };
  for (const block of cut(blocks, restartRows)) {
    if (underWay.length === overlap) await awaitOldest();
    if (restartRows.includes(block.inputRow)) void suppressUnhandled(evaluation.restart());
    underWay.push({
      block,
      running: suppressUnhandled(evaluation.run(block, signal, conditionsIn?.(block))),
    });
  }
  while (underWay.length > 0) await awaitOldest();
}

function* cut(blocks: Iterable<BlockRows>, rows: readonly number[]): Generator<BlockRows> {
  for (const { inputRow, outputRow, rowCount } of blocks) {
    const inside = rows.filter((row) => inputRow < row && row < inputRow + rowCount);
    const bounds = [inputRow, ...inside, inputRow + rowCount];
    for (const [index, row] of bounds.slice(0, -1).entries())
      yield { inputRow: row, outputRow: outputRow + row - inputRow, rowCount: bounds[index + 1]! - row };
  }
}
