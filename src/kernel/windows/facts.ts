import type { Mask, Value } from "../../operator/lowering.ts";
import type { LaneKernel } from "../lane_kernel.ts";
import { NEVER } from "./linear.ts";

/** What several windows over one column ask of it: each is counted once per kernel and row. */
export type Fact =
  /** Rows since the last null, today included. */
  | "valid"
  /** Rows since the last null or infinity. */
  | "finite"
  /** Rows since the last infinity. */
  | "bounded"
  /** Rows since the value last changed, today included: 0 if it differs from yesterday's. */
  | "alike";

/** A counter of rows, as far as the host has to know it. */
export interface FactSite {
  readonly kind: "fact";
  readonly fact: Fact;
  readonly column: number;
  readonly vector: number;
}

/** Counts the rows that a fact has held for, today included; whole numbers. */
export function rowsOf(on: LaneKernel, fact: Fact, column: number, now: Value): Value {
  return on.once(`${fact} ${column}`, () => {
    const vector = on.state.addWindow([fact === "bounded" ? NEVER : 0]);
    on.noteSite({ kind: "fact", fact, column, vector });
    const more = on.add(on.loadWindow(vector), on.number(1));
    const rows =
      fact === "alike"
        ? on.keepOrZero(on.eq(now, on.load(column, 1)), more)
        : on.keepOrZero(holds(on, fact, now), more);
    on.storeWindow(vector, rows);
    return rows;
  });
}

function holds(on: LaneKernel, fact: Fact, now: Value): Mask {
  if (fact === "valid") return on.eq(now, now);
  const isNumber = on.lt(on.abs(now), on.number(Number.POSITIVE_INFINITY));
  return fact === "finite" ? isNumber : on.or(isNumber, on.isNull(now));
}
