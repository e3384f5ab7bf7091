import type { Dag } from "../../dag/dag.ts";
import { formPlan } from "../../plan/form.ts";

/**
 * Rows of a block: enough that handing out parts costs little compared with running them, few enough that a block's
 * results stay in caches.
 */
export const BLOCK_ROWS_BEST = 64;
const BLOCK_ROWS_MIN = 16;

/** Bytes that a block should write at most, over all columns. */
const BLOCK_BYTES_TARGET = 256 * 2 ** 20;

/** Block sizes to try, best first; the smaller ones are for short memory. */
export function blockRowsToTry(shape: {
  readonly dag: Dag;
  readonly laneCount: number;
  readonly rowCount: number;
}): number[] {
  const { dag, laneCount, rowCount } = shape;
  const { columns, rowBytes } = formPlan(dag, { laneCount, blockRows: 1, executorCount: 1 });
  const affordable = Math.floor(BLOCK_BYTES_TARGET / Math.max(1, columns.length * rowBytes));
  const best = Math.min(Math.max(affordable, BLOCK_ROWS_MIN), BLOCK_ROWS_BEST, Math.max(1, rowCount));
  const sizes: number[] = [];
  for (let size = best; size > 1; size = Math.floor(size / 4)) sizes.push(size);
  return [...sizes, 1];
}
