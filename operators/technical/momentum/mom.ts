import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "mom",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "d", kind: "delay" },
  ],
  result: "series",
  unit: "same",
  summary: "Momentum: value minus the value d rows ago.",
  nulls: "Null where either value is null.",
  source: "Murphy (1999), Technical Analysis of the Financial Markets, ch. 10; TA-Lib MOM",
  formula: "delta(x, d)",
  examples: [{ formula: "mom(x, 2)", inputs: { x: [1, 4, 9, null, 25] }, output: [null, null, 8, null, 16] }],
});
