import { defineOperator } from "../../src/operator/definition.ts";
import { recur } from "./ema.ts";

export const operator = defineOperator({
  name: "ffill",
  aliases: { qlib: ["ffillnan"] },
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "The last value, however long ago.",
  nulls: "Null until the first value, nowhere after it.",
  source: "pandas Series.ffill(); FFillNan of qlib",
  costNs: () => 8,
  reference: ([x], _settings, output) => recur(x as Float64Array, output, (_last, value) => value),
  examples: [
    { formula: "ffill(x)", inputs: { x: [null, 3, null, null, 7] }, output: [null, 3, 3, 3, 7] },
    { formula: "ffill(x)", inputs: { x: [2, Infinity, null, 5] }, output: [2, Infinity, Infinity, 5] },
  ],
});
