import type { Mask, Value } from "../../operator/lowering.ts";
import { LaneCode } from "../emit/lane_code.ts";
import type { ColumnSeries, LaneKernel } from "../emit/lane_kernel.ts";
import { asMask } from "../emit/lane_values.ts";
import { pushCursor, scanBackwards } from "./scan_backwards.ts";

/**
 * True where all of the last rows of a column equal today's value. Checked only where a statistic is open, which it
 * always is for such a window of sums.
 */
export function isUnchanged(on: LaneKernel, series: ColumnSeries, rows: number): Mask {
  return everyRow(on, series, rows, "unchanged", (own, value, today) => own.eq(value, today));
}

/** True where none of the last rows of a column is infinite. Checked only where a sum is uncertain. */
export function isBounded(on: LaneKernel, series: ColumnSeries, rows: number): Mask {
  return everyRow(on, series, rows, "bounded", (own, value) =>
    own.ne(own.abs(value), own.number(Number.POSITIVE_INFINITY)),
  );
}

/** True where a condition holds in each of the last rows: a loop in its own function. */
function everyRow(
  on: LaneKernel,
  { column, now }: ColumnSeries,
  rows: number,
  name: string,
  holds: (own: LaneCode, value: Value, today: Value) => Mask,
): Mask {
  const { library, code } = on;
  const parameters = Array.from({ length: 5 }, () => "i32" as const);
  const index = library.helper(`every row ${name}`, (module) =>
    module.function({ parameters, results: [] }, (body) => {
      const own = new LaneCode(body, library);
      const [base, slots, slot, rowBytes, rowCount] = body.locals.parameters;
      const today = own.loadScratch(0);
      const mask = own.copyMask(asMask(own.bits(-1n)));
      scanBackwards(own, [{ base, slots, slot }], rowBytes, rowCount, (value) => {
        own.assign(mask, own.and(mask, holds(own, value, today)));
      });
      own.storeScratch(0, mask as unknown as Value);
    }),
  );
  on.storeScratch(0, now);
  pushCursor(on, column);
  code.i32(on.plan.rowBytes).i32(rows).call(index);
  return asMask(on.loadScratch(0));
}
