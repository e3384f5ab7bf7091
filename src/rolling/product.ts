import { MAGNITUDES } from "../exact/magnitudes.ts";
import type { Value } from "../operator/lowering.ts";
import type { Series, WindowBuilder } from "../operator/window_code.ts";
import { isCertain, PAIR_ERROR, type Pair, timesNumber } from "./double_double.ts";
import { hasEnough } from "./enough.ts";
import { holdsInWindow } from "./state/run_length.ts";

/** The product of a full window. */
export function product(on: WindowBuilder, x: Series, rows: number): Value {
  const { value, isKnown } = on.scope(() => {
    let pair: Pair = { high: x.now, low: on.number(0) };
    let least = on.abs(x.now);
    let most = least;
    let hasZero = on.eq(x.now, on.number(0));
    for (let lag = 1; lag < rows; lag++) {
      const factor = on.lag(x, lag);
      hasZero = on.or(hasZero, on.eq(factor, on.number(0)));
      pair = timesNumber(on, pair, factor);
      least = on.pmin(least, on.abs(pair.high));
      most = on.pmax(most, on.abs(pair.high));
    }
    const error = on.mul(on.abs(pair.high), on.number(rows * PAIR_ERROR));
    const isSafe = on.and(
      on.gt(least, on.number(MAGNITUDES.pairMin)),
      on.lt(most, on.number(MAGNITUDES.pairMax)),
    );
    const isDecided = on.and(isSafe, isCertain(on, pair, error));
    // Finite values with a zero among them have the product 0.
    const isZero = on.and(hasZero, holdsInWindow(on, "finite", [x], rows));
    return { value: on.select(isZero, on.number(0), pair.high), isKnown: on.or(isDecided, isZero) };
  });
  const isEnough = hasEnough(on, x, rows, null);
  on.leaveOpen(on.andNot(isEnough, isKnown), null);
  return on.keep(isEnough, value);
}
