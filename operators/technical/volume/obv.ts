import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "obv",
  axis: "rewrite",
  parameters: [
    { name: "close", kind: "series" },
    { name: "volume", kind: "series" },
  ],
  result: "series",
  unit: "other",
  summary: "On-balance volume: sum so far of the volumes, each with the sign of the change of close.",
  nulls: "Null in the first row; where the change or the volume is null the last result is carried over.",
  source: "Granville (1963), New Key to Stock Market Profits; TA-Lib OBV adds the volume of the first row",
  formula: "cum_sum(sign(delta(close, 1)) * volume)",
  examples: [
    {
      formula: "obv(close, volume)",
      inputs: { close: [10, 11, 11, 9, null, 12, 13], volume: [100, 200, 300, 400, 500, 600, 50] },
      output: [null, 200, 200, -200, -200, -200, -150],
    },
  ],
});
