import { defineOperator, type LoweredRow } from "../../../src/operator/definition.ts";
import type { CellBuilder, Value } from "../../../src/operator/lowering.ts";

/** With more values than this the code would be longer than a kernel should be. */
const VALUES_IN_CODE_MAX = 32;

/**
 * The state of `recallValue`: the last k values, the latest first, then the rows since each of them. The state is
 * empty where k exceeds d: d rows never have k values.
 */
export function noValues(d: number, k: number): number[] {
  return new Array(k > d ? 0 : 2 * k).fill(Number.NaN);
}

/** The k-th of the values up to this one, the latest being the first, if it is among the last d rows. */
export function recallValue(value: number, d: number, k: number, state: Float64Array): number {
  if (k > d) return Number.NaN;
  for (let i = k; i < 2 * k; i++) state[i] = state[i] + 1;
  if (!Number.isNaN(value)) {
    // What falls out of the values into the ages is overwritten.
    for (let i = 2 * k - 1; i > 0; i--) state[i] = state[i - 1];
    state[0] = value;
    state[k] = 0;
  }
  return state[2 * k - 1] < d ? state[k - 1] : Number.NaN;
}

/** The code of `recallValue`. */
export function lowerRecall(
  on: CellBuilder,
  value: Value,
  d: number,
  k: number,
  state: readonly Value[],
): LoweredRow | null {
  if (k > d) return { value: on.number(Number.NaN), state };
  if (k > VALUES_IN_CODE_MAX) return null;
  const isNull = on.isNull(value);
  const shifted = (first: Value, items: readonly Value[]) =>
    items.map((item, i) => on.select(isNull, item, i === 0 ? first : items[i - 1]));
  const values = shifted(value, state.slice(0, k));
  const ages = shifted(
    on.number(0),
    state.slice(k).map((age) => on.add(age, on.number(1))),
  );
  const isRecent = on.lt(ages[k - 1], on.number(d));
  return { value: on.keep(isRecent, values[k - 1]), state: [...values, ...ages] };
}

export const operator = defineOperator({
  name: "kth_element",
  axis: "recursive",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
    { name: "k", kind: "window" },
  ],
  result: "series",
  unit: "same",
  summary:
    "The k-th of the values among the last d rows, counted back from the current row: k = 1 is the latest.",
  nulls: "Nulls are skipped; null while fewer than k values are among the last d rows or those that exist.",
  source: "kth_element(x, d, k, ignore=NaN) of the WorldQuant BRAIN operators",
  costNs: () => 12,
  initialState: ({ d, k }) => noValues(d, k),
  nullWhere: {
    infinite_state: ([x], { d, k }, state) => Math.abs(recallValue(x, d, k, state.slice())) === Infinity,
    too_few_values: ([x], { d, k }, state) => Number.isNaN(recallValue(x, d, k, state.slice())),
  },
  reference: ([x], { d, k }, state) => recallValue(x, d, k, state),
  lower: (on, [x], { d, k }, state) => lowerRecall(on, x, d, k, state),
  examples: [
    {
      formula: "kth_element(x, 3, 1)",
      inputs: { x: [5, null, null, null, 7, 0] },
      output: [5, 5, 5, null, 7, 0],
    },
    {
      formula: "kth_element(x, 4, 2)",
      inputs: { x: [1, 2, null, 4, null, null, 7] },
      output: [null, 1, 1, 2, 2, null, 4],
    },
  ],
});
