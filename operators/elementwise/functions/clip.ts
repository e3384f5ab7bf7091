import { defineOperator } from "../../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "clip",
  aliases: { native: ["clamp"] },
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "lower", kind: "series" },
    { name: "upper", kind: "series" },
  ],
  result: "series",
  unit: "same",
  summary:
    "Value limited to lower..upper: min(max(x, lower), upper), so that upper counts where lower exceeds it.",
  nulls: "Null if the value or either bound is null.",
  source: "numpy.clip; clamp(x, lower, upper) of the WorldQuant BRAIN operators",
  costNs: () => 3,
  nullWhere: {},
  reference: (x, lower, upper) => Math.min(Math.max(x, lower), upper),
  lower: (on, x, lower, upper) => on.min(on.max(x, lower), upper),
  examples: [
    { formula: "clip(x, -1, 2)", inputs: { x: [-5, 0.5, 7, null, Infinity] }, output: [-1, 0.5, 2, null, 2] },
    { formula: "clip(x, y, 3)", inputs: { x: [1, 2, 9], y: [2, null, 4] }, output: [2, null, 3] },
  ],
});
