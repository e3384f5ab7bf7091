import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "ts_returns",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "delay" },
  ],
  result: "series",
  unit: "none",
  summary: "Relative change over d rows.",
  nulls: "Null where either of the two values is null; nulls in between do not matter.",
  source: "ts_returns(x, d) of the WorldQuant BRAIN operators; pandas Series.pct_change(d, fill_method=None)",
  formula: "x / delay(x, d) - 1",
  examples: [
    {
      formula: "ts_returns(x, 1)",
      inputs: { x: [4, 5, null, 8, 4] },
      output: [null, 0.25, null, null, -0.5],
    },
    { formula: "ts_returns(x, 2)", inputs: { x: [4, null, 5, 7, 0] }, output: [null, null, 0.25, null, -1] },
  ],
});
