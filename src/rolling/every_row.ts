import type { Mask, StepBuilder, Value } from "../operator/lowering.ts";
import type { RowWalk, Series, WindowBuilder } from "../operator/window_code.ts";

/** Whether a row counts, given its value and today's. */
type Holds = (on: StepBuilder, value: Value, today: Value) => Mask;

const emitUnchanged = everyRow((on, value, today) => on.eq(value, today));
const emitBounded = everyRow((on, value) => on.ne(on.abs(value), on.number(Number.POSITIVE_INFINITY)));

/** Code that gives 1 where the condition holds in every row, else 0. */
function everyRow(holds: Holds): (on: StepBuilder, walk: RowWalk, today: Value) => [Value] {
  return (on, { each }, today) => {
    const one = on.copy(on.number(1));
    each((value) => on.assign(one, on.keepOrZero(holds(on, value, today), one)));
    return [one];
  };
}

/**
 * True where all of the last rows of a series equal today's value. Checked only where a statistic is open, which it
 * always is for such a window of sums.
 */
export function isUnchanged(on: WindowBuilder, x: Series, rows: number): Mask {
  const [one] = on.walkRows("unchanged", [x], rows, [x.now], emitUnchanged);
  return on.eq(one!, on.number(1));
}

/** True where none of the last rows of a series is infinite. Checked only where a sum is uncertain. */
export function isBounded(on: WindowBuilder, x: Series, rows: number): Mask {
  const [one] = on.walkRows("bounded", [x], rows, [x.now], emitBounded);
  return on.eq(one!, on.number(1));
}
