import type { Value } from "../../operator/lowering.ts";
import type { Series, WindowState } from "../../operator/window_code.ts";

interface OfSeries {
  readonly series: Series;
  readonly windowRows: number;
  /** Gives the result from the rows themselves. */
  readonly ofTied: () => Value;
}

interface Layout {
  readonly column: number;
  /** One for each row of the window but today's. Rows take them in turn: slot `row % slots`. */
  readonly slots: number;
  readonly first: number;
}

/**
 * The keys of a window's rows: 32 bits each, side by side in the state, while the rows of the column are far apart. So
 * comparing them takes half of the instructions, and half of the time in a call of one row, whose windows are in no
 * cache. It gives 1 plus twice the number of values below today's; if a key equals today's, the rows are compared: that
 * takes half as long again as rows alone.
 */
export const keys: WindowState<OfSeries, Layout, Value> = {
  kind: "keys",
  keyOf: ({ series, windowRows }) => `${series.column} ${windowRows}`,
  reserve(layout, { series, windowRows }) {
    const slots = windowRows - 1;
    return { column: series.column, slots, first: layout.keys(slots) };
  },
  emit: (on, { slots, first }, { series, ofTied }) => on.countKeysBelow(first, slots, series.now, ofTied),
  rebuild(rows, { column, slots, first }, row, lane) {
    const values = rows.window(column, row, slots, lane);
    for (let i = 0; i < slots; i++) rows.writeKey(first, (row + 1 + i) % slots, lane, values[i]!);
  },
};
