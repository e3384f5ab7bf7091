import { defineOperator } from "../../src/operator/definition.ts";
import { recur } from "./ema.ts";

export const operator = defineOperator({
  name: "first_value",
  axis: "recursive",
  parameters: [{ name: "x", kind: "series" }],
  result: "series",
  unit: "same",
  summary: "The first value of the history: the oldest that is not null.",
  nulls: "Null until the first value, nowhere after it.",
  source: "Ref($x, 0) of qlib: the first value of the loaded series",
  costNs: () => 8,
  reference: ([x], _settings, output) => recur(x as Float64Array, output, (first) => first),
  examples: [
    { formula: "first_value(x)", inputs: { x: [null, 3, null, 7] }, output: [null, 3, 3, 3] },
    { formula: "x / first_value(x)", inputs: { x: [4, 5, null, 8] }, output: [1, 1.25, null, 2] },
  ],
});
