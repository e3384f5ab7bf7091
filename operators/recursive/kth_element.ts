import { defineOperator } from "../../src/operator/definition.ts";

/**
 * Writes to each row the k-th of the values up to it, the latest being the first, if it stands among the last d rows.
 */
export function recallValues(x: Float64Array, d: number, k: number, output: Float64Array): void {
  const places = Math.min(k, x.length); // the last k values, in a ring
  const values = new Float64Array(places);
  const rows = new Float64Array(places);
  let count = 0;
  for (let row = 0; row < x.length; row++) {
    if (!Number.isNaN(x[row] as number)) {
      values[count % places] = x[row] as number;
      rows[count % places] = row;
      count++;
    }
    const oldest = count % places; // the next to be overwritten
    const isKnown = count >= k && row - (rows[oldest] as number) < d;
    output[row] = isKnown ? (values[oldest] as number) : Number.NaN;
  }
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
  nulls:
    "Nulls are passed over; null while fewer than k values stand among the last d rows or those that exist.",
  source: "kth_element(x, d, k, ignore=NaN) of the WorldQuant BRAIN operators",
  costNs: () => 12,
  reference: ([x], { d, k }, output) => recallValues(x as Float64Array, d as number, k as number, output),
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
