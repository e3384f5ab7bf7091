import type { Value } from "../../operator/lowering.ts";
import type { Series, WindowState } from "../../operator/window_code.ts";

interface OfSeries {
  readonly series: Series;
  readonly windowRows: number;
  /** What counts: values, or those other than 0. */
  readonly counts: "values" | "non-zero";
}

interface Layout extends Omit<OfSeries, "series"> {
  readonly column: number;
  readonly vector: number;
}

/** Number of rows of a window in which a series has a value. */
export const count: WindowState<OfSeries, Layout, Value> = {
  kind: "count",
  keyOf: ({ series, windowRows, counts }) => `${counts} ${series.column} ${windowRows}`,
  reserve: (layout, { series, ...of }) => ({
    ...of,
    column: series.column,
    vector: layout.vectors([0]),
  }),
  emit(on, { vector, windowRows, counts }, { series }) {
    const one = (x: Value) => on.keepOrZero(counts === "values" ? on.eq(x, x) : on.holds(x), on.number(1));
    const after = on.add(on.loadVector(vector), on.sub(one(series.now), one(on.lag(series, windowRows))));
    on.storeVector(vector, after);
    return after;
  },
  rebuild(rows, { column, windowRows, counts, vector }, row, lane) {
    let found = 0;
    const values = rows.window(column, row, windowRows, lane);
    for (let i = 0; i < windowRows; i++) {
      const value = values[i]!;
      if (!Number.isNaN(value) && (counts === "values" || value !== 0)) found++;
    }
    rows.write(vector, lane, found);
  },
};
