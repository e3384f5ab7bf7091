import { defineOperator, type LoweredRow } from "../../../src/operator/definition.ts";
import type { CellBuilder, Value } from "../../../src/operator/lowering.ts";

/** The state of `recur` before the first value: the last result, and 1 once there is one, even an undefined one. */
export const UNSEEDED: readonly number[] = [Number.NaN, 0];

/**
 * The next result of `y = step(y, x)`: seeded by the first value, a null carries the last result over. Plain IEEE
 * arithmetic: an infinite or undefined result stays that way.
 */
export function recur(x: number, state: Float64Array, step: (y: number, x: number) => number): number {
  const last = state[0];
  if (Number.isNaN(x)) return last;
  const y = state[1] === 0 ? x : step(last, x);
  state[0] = y;
  state[1] = 1;
  return y;
}

/** For `nullWhere`: a last result that is infinite or undefined, which a step of plain IEEE arithmetic keeps. */
export const staysInfinite = (_cells: unknown, _settings: unknown, [y, isSeeded]: Float64Array): boolean =>
  isSeeded !== 0 && !Number.isFinite(y);

/** The code of `recur`. */
export function lowerRecur(
  on: CellBuilder,
  x: Value,
  state: readonly Value[],
  step: (y: Value, x: Value) => Value,
): LoweredRow {
  const [last, isSeeded] = state;
  const isNull = on.isNull(x);
  const y = on.select(on.eq(isSeeded, on.number(0)), x, step(last, x));
  const value = on.select(isNull, last, y);
  return { value, state: [value, on.select(isNull, isSeeded, on.number(1))] };
}

export const operator = defineOperator({
  name: "ema",
  axis: "recursive",
  parameters: [
    { name: "x", kind: "series" },
    { name: "n", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary: "Exponential moving average y + a * (x - y) with a = 2 / (n + 1), seeded by the first value.",
  nulls:
    "Null until the first value; at a null the last result is carried over; always null after an infinity.",
  source: "pandas Series.ewm(span=n, adjust=False, ignore_na=True).mean(); TA-Lib EMA except for its seed",
  costNs: () => 10,
  initialState: () => UNSEEDED,
  nullWhere: { infinite_state: staysInfinite },
  reference: ([x], { n }, state) => {
    const alpha = 2 / (n + 1);
    return recur(x, state, (y, value) => y + alpha * (value - y));
  },
  lower: (on, [x], { n }, state) => {
    const alpha = on.number(2 / (n + 1));
    return lowerRecur(on, x, state, (y, value) => on.add(y, on.mul(alpha, on.sub(value, y))));
  },
  examples: [
    { formula: "ema(x, 3)", inputs: { x: [null, 4, 6, null, 1] }, output: [null, 4, 5, 5, 3] },
    { formula: "ema(x, 2)", inputs: { x: [1, 2, 4] }, output: [1, 1.6666666666666665, 3.2222222222222223] },
    { formula: "ema(x, 3)", inputs: { x: [1, Infinity, 1, 1] }, output: [1, Infinity, null, null] },
  ],
});
