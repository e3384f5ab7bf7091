import type { Value } from "../../operator/lowering.ts";
import type { Local } from "../emit/code.ts";
import type { LaneCode } from "../emit/lane_code.ts";
import type { LaneKernel } from "../emit/lane_kernel.ts";

/** A cursor through a column's rows, as parameters of a function. */
export interface RingCursor {
  /** Address of the lanes in slot 0. */
  readonly base: Local;
  readonly slots: Local;
  /** Current slot; at first today's. */
  readonly slot: Local;
}

/** Pushes the three parameters of a cursor through a column. */
export function pushCursor(on: LaneKernel, column: number): void {
  const { code, plan } = on;
  const { byteOffset, ringRows } = plan.columns[column]!;
  code.get(on.lane).i32(byteOffset).op("i32.add").i32(ringRows);
  code.get(on.row).i32(ringRows).op("i32.rem_u");
}

/** Runs the body with the values of today, of the row before, and so on, for `rows` rows. */
export function scanBackwards(
  on: LaneCode,
  cursors: readonly RingCursor[],
  rowBytes: Local,
  rows: Local,
  body: (...values: Value[]) => void,
): void {
  const { code } = on;
  const at = code.locals.add("i32");
  const left = code.locals.add("i32");
  code.get(rows).set(left);
  code.loop((again) => {
    on.scope(() => {
      const values = cursors.map(({ base, slot }) => {
        code.get(slot).get(rowBytes).op("i32.mul").get(base).op("i32.add").set(at);
        return on.loadAt(at, 0);
      });
      body(...values);
      return [];
    });
    for (const { slot, slots } of cursors) {
      code.get(slot).get(slots).get(slot).op("select").i32(1).op("i32.sub").set(slot);
    }
    code.get(left).i32(1).op("i32.sub").tee(left).branchIf(again);
  });
}
