import type { Mask, Series, Value } from "../../operator/lowering.ts";
import type { ColumnSeries, LaneKernel } from "../emit/lane_kernel.ts";
import { NEVER } from "./linear.ts";

/** Properties of rows that windows check; each has one counter per kernel and row. */
export type Fact =
  /** Rows since the last null, including today. */
  | "valid"
  /** Rows since the last null or infinity. */
  | "finite"
  /** Rows since the last infinity. */
  | "bounded";

/** What the host needs of a counter of rows. */
export interface FactSite {
  readonly kind: "fact";
  readonly fact: Fact;
  readonly columns: readonly number[];
  readonly vector: number;
}

/** Number of consecutive rows up to today in which the property holds in every column, as whole numbers. */
export function runLengthOf(on: LaneKernel, fact: Fact, series: readonly Series[]): Value {
  const columns = series.map((one) => (one as ColumnSeries).column);
  return on.once(`${fact} ${columns.join(" ")}`, () => {
    const vector = on.state.addWindow([fact === "bounded" ? NEVER : 0]);
    on.noteSite({ kind: "fact", fact, columns, vector });
    const more = on.add(on.loadWindow(vector), on.number(1));
    const all = series.map(({ now }) => holds(on, fact, now)).reduce((a, b) => on.and(a, b));
    const rows = on.keepOrZero(all, more);
    on.storeWindow(vector, rows);
    return rows;
  });
}

function holds(on: LaneKernel, fact: Fact, now: Value): Mask {
  if (fact === "valid") return on.eq(now, now);
  const isNumber = on.lt(on.abs(now), on.number(Number.POSITIVE_INFINITY));
  return fact === "finite" ? isNumber : on.or(isNumber, on.isNull(now));
}
