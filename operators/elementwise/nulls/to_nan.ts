import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "to_nan",
  axis: "rewrite",
  parameters: [
    { name: "x", kind: "series" },
    { name: "value", kind: "constant", default: 0 },
  ],
  result: "series",
  unit: "same",
  summary: "The value, with one number (0 if none is given) turned into null.",
  nulls: "Null if the value is null or equals the number.",
  source: "to_nan(x, value=0) of the WorldQuant BRAIN operators; coalesce(x, value) is its reverse=true",
  formula: "x == value ? null : x",
  examples: [
    { formula: "to_nan(x)", inputs: { x: [1, 0, -0, null] }, output: [1, null, null, null] },
    { formula: "to_nan(x, -1)", inputs: { x: [-1, 0, Infinity] }, output: [null, 0, Infinity] },
  ],
});
