import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "hump",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "hump", kind: "constant", default: 0.01 },
  ],
  result: "series",
  unit: "same",
  summary:
    "The last result, moved towards x by a limit where x is at least that far away; the limit is hump " +
    "times the sum of the row's absolute values.",
  nulls: "Null until the first value; at a null the last result is carried over.",
  source: "hump(x, hump) of the WorldQuant BRAIN operators: limit = hump * group_sum(abs(x), market)",
  formula: "limit_change(x, hump * cs_sum(abs(x)))",
  examples: [
    {
      formula: "hump(x, 0.05)",
      inputs: { x: [100, 100.5, 110, null, 90, 90] },
      output: [100, 100, 105.5, 105.5, 101, 96.5],
    },
    { formula: "hump(x)", inputs: { x: [null, 1, 2] }, output: [null, 1, 1.02] },
  ],
});
