import type { Value } from "../../operator/lowering.ts";
import type { Series, WindowState } from "../../operator/window_code.ts";

/** Longer windows use the reference: the size of the code grows with every row. */
export const ORDER_ROWS_MAX = 512;

interface OfSeries {
  readonly series: Series;
  readonly windowRows: number;
}

interface Layout {
  readonly column: number;
  readonly windowRows: number;
  /** First of `windowRows` vectors: the values in ascending order, then infinities in place of nulls. */
  readonly first: number;
}

/** The values of a window in ascending order, in vectors of which it gives the first. */
export const sorted: WindowState<OfSeries, Layout, number> = {
  kind: "sorted",
  keyOf: ({ series, windowRows }) => `${series.column} ${windowRows}`,
  reserve: (layout, { series, windowRows }) => ({
    column: series.column,
    windowRows,
    first: layout.vectors(new Array<number>(windowRows).fill(Number.POSITIVE_INFINITY)),
  }),
  // One pass over the window removes the leaving value and lets the entering one sink to its place, without a branch.
  emit(on, { windowRows, first }, { series }) {
    const nothing = on.number(Number.POSITIVE_INFINITY);
    const orNothing = (x: Value) => on.select(on.isNull(x), nothing, x);
    const leaving = orNothing(on.lag(series, windowRows));
    const sinking = on.copy(orNothing(series.now));
    const current = on.copy(on.loadVector(first));
    const hasLeft = on.copy(on.ne(nothing, nothing));
    for (let i = 0; i < windowRows; i++) {
      on.scope(() => {
        const next = i + 1 < windowRows ? on.loadVector(first + i + 1) : nothing;
        on.assign(hasLeft, on.or(hasLeft, on.eq(current, leaving)));
        const kept = on.select(hasLeft, next, current);
        on.storeVector(first + i, on.pmin(kept, sinking));
        on.assign(sinking, on.pmax(sinking, kept));
        on.assign(current, next);
      });
    }
    return first;
  },
  rebuild(rows, { column, windowRows, first }, row, lane) {
    const values = rows.window(column, row, windowRows, lane).subarray(0, windowRows);
    for (let i = 0; i < windowRows; i++) if (Number.isNaN(values[i])) values[i] = Number.POSITIVE_INFINITY;
    values.sort();
    for (let i = 0; i < windowRows; i++) rows.write(first + i, lane, values[i]!);
  },
};
