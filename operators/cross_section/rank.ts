import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "rank",
  axis: "cross_section",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  summary: "Average rank of ties among the row's values, divided by their number: in (0, 1].",
  nulls: "Nulls stay null and do not count.",
  source: "pandas DataFrame.rank(axis=1, pct=True); rank(x) of Kakushadze (2015), arXiv:1601.00991",
  costNs: () => 120,
  reference: ([x], _settings, output) => {
    const values = x as Float64Array;
    const count = values.length;
    const order = Uint32Array.from(values, (_, lane) => lane);
    order.sort((a, b) => (values[a] as number) - (values[b] as number));
    for (let start = 0; start < count; ) {
      const value = values[order[start] as number] as number;
      let end = start + 1;
      while (end < count && values[order[end] as number] === value) end++;
      // Ranks start + 1 .. end share their average; the sum of the two is exact, the division rounds once.
      for (let i = start; i < end; i++) output[order[i] as number] = (start + 1 + end) / 2 / count;
      start = end;
    }
  },
  examples: [
    { formula: "rank(x)", inputs: { x: [30, 10, null, 20, 10] }, output: [1, 0.375, null, 0.75, 0.375] },
  ],
});
