import type { Value } from "../../operator/lowering.ts";
import type { LaneKernel } from "../emit/lane_kernel.ts";

/** Longer windows use the reference: the size of the code grows with every row. */
export const ORDER_ROWS_MAX = 512;

/** What the host needs of the sorted values of a window. */
export interface SortedSite {
  readonly kind: "sorted";
  readonly column: number;
  readonly windowRows: number;
  /** First of `windowRows` vectors: the values in ascending order, then infinities in place of nulls. */
  readonly vector: number;
}

/**
 * Keeps the values of the last `rows` rows sorted: one pass over the window removes the leaving value and lets the
 * entering one sink to its place, without a branch. Returns the index of the first of `rows` vectors.
 */
export function sortedWindow(on: LaneKernel, column: number, now: Value, rows: number): number {
  const sort = (): number => {
    const vector = on.state.addWindow(Array.from({ length: rows }, () => Number.POSITIVE_INFINITY));
    on.noteSite({ kind: "sorted", column, windowRows: rows, vector });
    const nothing = on.number(Number.POSITIVE_INFINITY);
    const orNothing = (x: Value) => on.select(on.isNull(x), nothing, x);
    const leaving = orNothing(on.load(column, rows));
    const sinking = on.copy(orNothing(now));
    const current = on.copy(on.loadWindow(vector));
    const hasLeft = on.copy(on.number(0));
    for (let i = 0; i < rows; i++) {
      on.scope(() => {
        const next = i + 1 < rows ? on.loadWindow(vector + i + 1) : nothing;
        on.assign(hasLeft, on.orBits(hasLeft, on.eq(current, leaving) as unknown as Value));
        const kept = on.select(hasLeft as never, next, current);
        on.storeWindow(vector + i, on.pmin(kept, sinking));
        on.assign(sinking, on.pmax(sinking, kept));
        on.assign(current, next);
        return [];
      });
    }
    return vector;
  };
  return on.onceMade(`sorted ${column} ${rows}`, sort, () => []);
}
