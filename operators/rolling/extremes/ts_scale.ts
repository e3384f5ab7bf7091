import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "ts_scale",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "window" },
    { name: "constant", kind: "constant", default: 0 },
  ],
  result: "series",
  unit: "none",
  summary:
    "Where today's value lies between the least (0) and the greatest (1) of the last d rows, plus a constant.",
  nulls: "Null until d rows exist, while any value in the window is null, and where all are equal.",
  source: "ts_scale(x, d, constant=0) of the WorldQuant BRAIN operators",
  formula: "(x - ts_min(x, d)) / (ts_max(x, d) - ts_min(x, d)) + constant",
  examples: [
    {
      formula: "ts_scale(x, 3)",
      inputs: { x: [1, 5, 2, 2, 2, null] },
      output: [null, null, 0.25, 0, null, null],
    },
    { formula: "ts_scale(x, 2, 1)", inputs: { x: [4, 8, 6, Infinity] }, output: [null, 2, 1, null] },
  ],
});
