import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "typical_price",
  axis: "rewrite",
  parameters: [
    { name: "high", kind: "series" },
    { name: "low", kind: "series" },
    { name: "close", kind: "series" },
  ],
  result: "series",
  unit: "same",
  summary: "Mean of high, low and close.",
  nulls: "Null where any of the three is null.",
  source: "Lambert (1980), Commodity Channel Index, Commodities; TA-Lib TYPPRICE",
  formula: "(high + low + close) / 3",
  examples: [
    {
      formula: "typical_price(high, low, close)",
      inputs: { high: [10, 12, null], low: [8, 9, 7], close: [9, 11, 8] },
      output: [9, 10.666666666666666, null],
    },
  ],
});
