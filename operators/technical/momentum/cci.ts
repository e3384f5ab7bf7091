import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "cci",
  axis: "rewrite",
  parameters: [
    { name: "high", kind: "series" },
    { name: "low", kind: "series" },
    { name: "close", kind: "series" },
    { name: "n", kind: "window", default: 20 },
  ],
  result: "series",
  unit: "none",
  summary:
    "Commodity channel index: distance of the typical price from its mean over the last n rows, in units " +
    "of 0.015 mean absolute deviations.",
  nulls:
    "Null until n rows exist, while any price among them is null, and where their typical prices are equal.",
  source: "Lambert (1980), Commodity Channel Index, Commodities; TA-Lib CCI",
  formula:
    "(typical_price(high, low, close) - ts_mean(typical_price(high, low, close), n)) / (0.015 * " +
    "ts_mad(typical_price(high, low, close), n))",
  examples: [
    {
      formula: "cci(high, low, close, 3)",
      inputs: { high: [10, 12, 13, 12], low: [8, 9, 11, 10], close: [9, 11, 12, null] },
      output: [null, null, 92.85714285714289, null],
    },
    {
      formula: "cci(high, low, close, 2)",
      inputs: {
        high: [10, 12, 13, 12, 15, 15],
        low: [8, 9, 11, 10, 11, 11],
        close: [9, 11, 12, null, 14, 14],
      },
      output: [null, 66.66666666666674, 66.66666666666676, null, null, null],
    },
  ],
});
