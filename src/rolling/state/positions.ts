import type { Value } from "../../operator/lowering.ts";
import type { Series, WindowState } from "../../operator/window_code.ts";

interface OfSeries {
  readonly series: Series;
  readonly windowRows: number;
}

interface Layout {
  readonly column: number;
  readonly windowRows: number;
  /** First of three vectors: count, sum, sum of squares. */
  readonly vector: number;
}

/** Of the positions 1 (oldest row) to d (today) that have a value: their number, sum and sum of squares. */
export const positions: WindowState<OfSeries, Layout, readonly [Value, Value, Value]> = {
  kind: "positions",
  keyOf: ({ series, windowRows }) => `${series.column} ${windowRows}`,
  reserve: (layout, { series, windowRows }) => ({
    column: series.column,
    windowRows,
    vector: layout.vectors([0, 0, 0]),
  }),
  // With every row all positions drop by one.
  emit(on, { vector, windowRows }, { series }) {
    const { now } = series;
    const old = on.lag(series, windowRows);
    const [isThere, wasThere] = [on.eq(now, now), on.eq(old, old)];
    const [count, sum, squares] = [0, 1, 2].map((i) => on.loadVector(vector + i)) as [Value, Value, Value];
    const entering = (value: number) => on.keepOrZero(isThere, on.number(value));
    const left = on.keepOrZero(wasThere, on.number(1));
    // The oldest value was at position 1: it no longer counts once all have dropped.
    const after = [
      on.add(on.sub(count, left), entering(1)),
      on.add(on.sub(sum, count), entering(windowRows)),
      on.add(on.add(on.sub(squares, on.mul(on.number(2), sum)), count), entering(windowRows ** 2)),
    ] as const;
    after.forEach((value, i) => {
      on.storeVector(vector + i, value);
    });
    return after;
  },
  rebuild(rows, { column, windowRows, vector }, row, lane) {
    let [count, sum, squares] = [0, 0, 0];
    const values = rows.window(column, row, windowRows, lane);
    for (let position = 1; position <= windowRows; position++) {
      if (Number.isNaN(values[position - 1])) continue;
      count++;
      sum += position;
      squares += position ** 2;
    }
    rows.write(vector, lane, count);
    rows.write(vector + 1, lane, sum);
    rows.write(vector + 2, lane, squares);
  },
};
