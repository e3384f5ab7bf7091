import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "mfi",
  axis: "rewrite",
  parameters: [
    { name: "high", kind: "series" },
    { name: "low", kind: "series" },
    { name: "close", kind: "series" },
    { name: "volume", kind: "series" },
    { name: "n", kind: "window", default: 14 },
  ],
  result: "series",
  unit: "none",
  summary:
    "Money flow index: typical price times volume over the last n rows in which that price rose, in " +
    "percent of all in which it changed.",
  nulls:
    "Null until n + 1 rows exist, while any value among them is null, and where the price did not change.",
  source:
    "Quong and Soudack (1989), Volume-Weighted RSI: Money Flow, Technical Analysis of Stocks and " +
    "Commodities 7(3); TA-Lib MFI",
  formula:
    "100 * (ts_sum(delta(typical_price(high, low, close), 1) > 0 ? typical_price(high, low, close) * volume : 0, n) / " +
    "ts_sum(delta(typical_price(high, low, close), 1) != 0 ? typical_price(high, low, close) * volume : 0, n))",
  examples: [
    {
      formula: "mfi(high, low, close, volume, 3)",
      inputs: {
        high: [10, 12, 13, 12, 15, null, 16],
        low: [8, 9, 11, 10, 11, 12, 13],
        close: [9, 11, 12, 11, 14, 13, 15],
        volume: [100, 200, 150, 50, 300, 100, 250],
      },
      output: [null, null, null, 87.73234200743494, 91.33858267716536, null, null],
    },
    {
      formula: "mfi(high, low, close, volume, 2)",
      inputs: { high: [5, 5, 5], low: [5, 5, 5], close: [5, 5, 5], volume: [1, 2, 3] },
      output: [null, null, null],
    },
  ],
});
