import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "sign",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "none",
  summary: "1 for values above zero, -1 below, 0 for zero of either sign.",
  nulls: "Null if the value is null.",
  source: "numpy.sign; sign(x) of Kakushadze (2015), arXiv:1601.00991",
  laws: ["sign(sign(x)) = sign(x)"],
  costNs: () => 2,
  nullWhere: {},
  reference: (x) => {
    if (x === 0) return 0; // also for -0, whose own sign would come back as -0
    return x < 0 ? -1 : 1;
  },
  lower: (on, x) => {
    const positive = on.condition(on.gt(x, on.number(0)), x);
    return on.select(on.lt(x, on.number(0)), on.number(-1), positive);
  },
  examples: [
    {
      formula: "sign(x)",
      inputs: { x: [-2.5, 0, -0, 1e-300, null, -Infinity] },
      output: [-1, 0, 0, 1, null, -1],
    },
  ],
});
