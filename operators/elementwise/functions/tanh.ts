import { scalarArithmetic } from "../../../src/elementary/scalar.ts";
import { tanh } from "../../../src/elementary/tanh.ts";
import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "tanh",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "none",
  summary: "Hyperbolic tangent, between -1 and 1, within 0.81 ulp; the same bits on every machine.",
  nulls: "Null if the value is null.",
  source: "ISO C tanh; tanh(x) of the WorldQuant BRAIN operators",
  costNs: () => 20,
  nullWhere: {},
  reference: (x) => tanh(scalarArithmetic, x),
  lower: (on, x) => on.outline("tanh", tanh, x),
  examples: [
    { formula: "tanh(x)", inputs: { x: [0, 2, null] }, output: [0, 0.9640275800758169, null] },
    { formula: "tanh(x)", inputs: { x: [-Infinity, Infinity, 1e-20] }, output: [-1, 1, 1e-20] },
  ],
});
