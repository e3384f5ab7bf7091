import { defineOperator } from "../../src/operator/definition.ts";
import { raise } from "./power.ts";

export const operator = defineOperator({
  name: "signed_power",
  aliases: { native: ["signedpower"], alpha101: ["signedpower"] },
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "a", kind: "series" },
  ],
  result: "series",
  summary:
    "Sign of x times the absolute value of x to the power a, which keeps the order of x for positive a.",
  nulls: "Null if either value is null, for zero to a negative power, and for 1 or -1 to an infinite power.",
  source:
    "signed_power(x, y) of the WorldQuant BRAIN operators; SignedPower of Kakushadze (2015), arXiv:1601.00991",
  costNs: () => 22,
  reference: (x, a) => {
    if (x === 0) return 0 * raise(0, a); // null where 0^a is infinite
    return x < 0 ? -raise(-x, a) : raise(x, a);
  },
  examples: [
    { formula: "signed_power(x, 2)", inputs: { x: [-3, 3, 0, null] }, output: [-9, 9, 0, null] },
    { formula: "signed_power(x, y)", inputs: { x: [-4, 9, -2], y: [0.5, 0.5, null] }, output: [-2, 3, null] },
    // Zero has no sign to give to the infinity that 0^-1 is.
    { formula: "signed_power(x, -1)", inputs: { x: [-2, 0, Infinity] }, output: [-0.5, null, 0] },
  ],
});
