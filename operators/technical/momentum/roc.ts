import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "roc",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "delay" },
  ],
  result: "series",
  unit: "none",
  summary: "Rate of change over d rows, in percent.",
  nulls: "Null where either value is null.",
  source: "Murphy (1999), Technical Analysis of the Financial Markets, ch. 10; TA-Lib ROC",
  formula: "100 * (x / delay(x, d) - 1)",
  examples: [{ formula: "roc(x, 1)", inputs: { x: [4, 5, null, 8] }, output: [null, 25, null, null] }],
});
