import { exp } from "../../../src/elementary/exp.ts";
import { scalarArithmetic } from "../../../src/elementary/scalar.ts";
import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "exp",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "none",
  summary:
    "Exponential function, within 0.6 ulp (0.76 where the result is subnormal); the same bits on every machine.",
  nulls: "Null if the value is null.",
  source: "ISO C exp",
  costNs: () => 20,
  nullWhere: {},
  reference: (x) => exp(scalarArithmetic, x),
  lower: (on, x) => on.outline("exp", exp, x),
  examples: [
    { formula: "exp(x)", inputs: { x: [0, -1, null] }, output: [1, 0.36787944117144233, null] },
    { formula: "exp(x)", inputs: { x: [-Infinity, Infinity, 1000] }, output: [0, Infinity, Infinity] },
  ],
});
