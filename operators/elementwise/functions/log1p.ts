import { log1p } from "../../../src/elementary/log1p.ts";
import { scalarArithmetic } from "../../../src/elementary/scalar.ts";
import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "log1p",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "none",
  summary:
    "Natural logarithm of 1 + x within 0.67 ulp, also for small x; minus infinity for -1; the same bits on every machine.",
  nulls: "Null if the value is null or below -1.",
  source: "ISO C log1p; numpy.log1p",
  costNs: () => 20,
  nullWhere: { domain: (x) => x <= -1 },
  reference: (x) => log1p(scalarArithmetic, x),
  lower: (on, x) => on.outline("log1p", log1p, x),
  examples: [
    { formula: "log1p(x)", inputs: { x: [0, 3, 1e-20, null] }, output: [0, 1.3862943611198906, 1e-20, null] },
    { formula: "log1p(x)", inputs: { x: [-1, -1.5, Infinity] }, output: [-Infinity, null, Infinity] },
  ],
});
