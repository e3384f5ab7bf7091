import { log } from "../../../src/elementary/log.ts";
import { scalarArithmetic } from "../../../src/elementary/scalar.ts";
import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "log",
  axis: "elementwise",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "none",
  summary: "Natural logarithm, within 0.65 ulp; minus infinity for zero; the same bits on every machine.",
  nulls: "Null if the value is null or negative.",
  source: "ISO C log; log(x) of Kakushadze (2015), arXiv:1601.00991",
  costNs: () => 20,
  nullWhere: { domain: (x) => x <= 0 },
  reference: (x) => log(scalarArithmetic, x),
  lower: (on, x) => on.outline("log", log, x),
  examples: [
    { formula: "log(x)", inputs: { x: [1, 4, null] }, output: [0, 1.3862943611198906, null] },
    { formula: "log(x)", inputs: { x: [0, -1, Infinity] }, output: [-Infinity, null, Infinity] },
  ],
});
