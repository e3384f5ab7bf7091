import { defineOperator } from "../../src/operator/definition.ts";

/** `output[i]` = rank of `values[i]`, 1 for the smallest; equal values share the average of their ranks. */
export function averageRanks(values: Float64Array, output: Float64Array): void {
  const count = values.length;
  const order = Uint32Array.from(values, (_, lane) => lane);
  order.sort((a, b) => values[a] - values[b]);
  for (let start = 0; start < count; ) {
    const value = values[order[start]];
    let end = start + 1;
    while (end < count && values[order[end]] === value) end++;
    // Ranks start + 1 .. end share their average; the sum of the two and its half are exact.
    for (let i = start; i < end; i++) output[order[i]] = (start + 1 + end) / 2;
    start = end;
  }
}

/** Average ranks divided by their number, each rounded once. */
export function relativeRanks(values: Float64Array, output: Float64Array): void {
  averageRanks(values, output);
  for (let i = 0; i < output.length; i++) output[i] /= output.length;
}

export const operator = defineOperator({
  name: "rank",
  axis: "cross_section",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  range: "unit",
  unit: "none",
  summary: "Average rank of ties among the row's values, divided by their number: in (0, 1].",
  nulls: "Nulls stay null and do not count.",
  source: "pandas DataFrame.rank(axis=1, pct=True); rank(x) of Kakushadze (2015), arXiv:1601.00991",
  laws: ["rank(rank(x)) = rank(x)"],
  costNs: () => 120,
  nullWhere: {},
  reference: ([x], _settings, output) => relativeRanks(x, output),
  lower: (on) => on.relativeRanks(),
  examples: [
    { formula: "rank(x)", inputs: { x: [30, 10, null, 20, 10] }, output: [1, 0.375, null, 0.75, 0.375] },
  ],
});
