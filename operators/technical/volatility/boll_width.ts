import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "boll_width",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "n", kind: "window", default: 20 },
    { name: "k", kind: "constant", default: 2 },
  ],
  result: "series",
  unit: "none",
  summary: "Distance of the Bollinger bands in relation to the middle one.",
  nulls: "Null until n rows exist, while any value among them is null, and for n = 1.",
  source: "BandWidth of Bollinger (2001), Bollinger on Bollinger Bands",
  formula: "(boll_upper(x, n, k) - boll_lower(x, n, k)) / boll_middle(x, n)",
  examples: [
    {
      formula: "boll_width(x, 3)",
      inputs: { x: [1, 2, 4, null, 5, 6, 9, 9] },
      output: [null, null, 2.1380899352993947, null, null, null, 1.019803902718557, 0.7071067811865475],
    },
  ],
});
