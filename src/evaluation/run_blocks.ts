import { OVERLAPPING_BLOCKS_MAX } from "../execution/executor_pool.ts";
import { suppressUnhandled } from "./awaiting.ts";
import type { BlockRows, Evaluation } from "./evaluation.ts";

export interface RunBlocksOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called after each block, in order, before the block `overlap` blocks later begins. */
  readonly onBlock?: (block: BlockRows) => void;
  /** Which conditions hold in a block (`Evaluation.run`). */
  readonly conditionsIn?: (block: BlockRows) => readonly boolean[] | undefined;
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
  { signal, onBlock, conditionsIn, overlap = OVERLAPPING_BLOCKS_MAX }: RunBlocksOptions = {},
): Promise<void> {
  const underWay: { readonly block: BlockRows; readonly running: Promise<void> }[] = [];
  const awaitOldest = async () => {
    const { block, running } = underWay.shift()!;
    await running;
    onBlock?.(block);
  };
  for (const block of blocks) {
    if (underWay.length === overlap) await awaitOldest();
    underWay.push({
      block,
      running: suppressUnhandled(evaluation.run(block, signal, conditionsIn?.(block))),
    });
  }
  while (underWay.length > 0) await awaitOldest();
}
