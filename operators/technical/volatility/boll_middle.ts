import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "boll_middle",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "n", kind: "window", default: 20 },
  ],
  result: "series",
  unit: "same",
  summary: "Middle Bollinger band: the mean over the last n rows.",
  nulls: "Null until n rows exist and while any value among them is null.",
  source: "Bollinger (2001), Bollinger on Bollinger Bands; TA-Lib BBANDS",
  formula: "ts_mean(x, n)",
  examples: [
    {
      formula: "boll_middle(x, 3)",
      inputs: { x: [1, 2, 4, null, 5, 6, 9, 9] },
      output: [null, null, 2.3333333333333335, null, null, null, 6.666666666666667, 8],
    },
  ],
});
