import { defineOperator } from "../../src/operator/definition.ts";

export const operator = defineOperator({
  name: "remainder",
  symbol: "%",
  aliases: { native: ["mod"] },
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
  ],
  result: "series",
  summary: "Remainder of x divided by y, with the sign of y: x - y * floor(x / y).",
  nulls: "Null if either value is null, if y is zero, and if x is infinite.",
  source: "x % y of Python and pandas (Series.mod)",
  costNs: () => 10,
  reference: (x, y) => {
    const rest = x % y; // exact, with the sign of x
    if (rest === 0) return y < 0 ? -0 : 0;
    return rest < 0 !== y < 0 ? rest + y : rest;
  },
  examples: [
    { formula: "x % 3", inputs: { x: [7, -7, 6, null] }, output: [1, 2, 0, null] },
    { formula: "x % y", inputs: { x: [7, -7, 5.5, 1], y: [-3, -3, 2, 0] }, output: [-2, -1, 1.5, null] },
    // One period reaches from 0 to infinity: what lies below 0 is moved up by infinity.
    {
      formula: "x % y",
      inputs: { x: [5, -5, Infinity], y: [Infinity, Infinity, 3] },
      output: [5, Infinity, null],
    },
  ],
});
