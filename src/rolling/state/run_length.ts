import type { Mask, Value } from "../../operator/lowering.ts";
import type { Series, WindowBuilder, WindowState } from "../../operator/window_code.ts";

/** Rows since something that never happened. */
export const NEVER = 2 ** 40;

/** A property of rows: no null, neither null nor infinity, no infinity. */
type Property = "valid" | "finite" | "bounded";

interface OfRows {
  readonly property: Property;
  readonly series: readonly Series[];
}

interface Layout {
  readonly property: Property;
  readonly columns: readonly number[];
  readonly vector: number;
}

/** Number of consecutive rows up to today in which the property holds in every series, as whole numbers. */
export const runLength: WindowState<OfRows, Layout, Value> = {
  kind: "run length",
  keyOf: ({ property, series }) => `${property} ${series.map(({ column }) => column).join(" ")}`,
  reserve: (layout, { property, series }) => ({
    property,
    columns: series.map(({ column }) => column),
    vector: layout.vectors([property === "bounded" ? NEVER : 0]),
  }),
  emit(on, { property, vector }, { series }) {
    const more = on.add(on.loadVector(vector), on.number(1));
    const all = series.map(({ now }) => holds(on, property, now)).reduce((a, b) => on.and(a, b));
    const rows = on.keepOrZero(all, more);
    on.storeVector(vector, rows);
    return rows;
  },
  rebuild(rows, { property, columns, vector }, row, lane) {
    let least = NEVER;
    for (const column of columns) {
      const kept = rows.historyRows(column);
      const values = rows.window(column, row, kept, lane);
      let count = 0;
      while (count < kept && holdsFor(property, values[kept - 1 - count]!)) count++;
      // The oldest row that is kept says nothing of earlier ones, in which there may be no infinity at all.
      least = Math.min(least, property === "bounded" && count === kept ? NEVER : count);
    }
    rows.write(vector, lane, least);
  },
};

function holds(on: WindowBuilder, property: Property, now: Value): Mask {
  if (property === "valid") return on.eq(now, now);
  const isNumber = on.lt(on.abs(now), on.number(Number.POSITIVE_INFINITY));
  return property === "finite" ? isNumber : on.or(isNumber, on.isNull(now));
}

function holdsFor(property: Property, value: number): boolean {
  if (property === "valid") return !Number.isNaN(value);
  return property === "finite" ? Number.isFinite(value) : Math.abs(value) !== Number.POSITIVE_INFINITY;
}

/** Whether the property holds in each of the last rows of every series. */
export function holdsInWindow(
  on: WindowBuilder,
  property: Property,
  series: readonly Series[],
  rows: number,
): Mask {
  return on.ge(on.state(runLength, { property, series }), on.number(rows));
}
