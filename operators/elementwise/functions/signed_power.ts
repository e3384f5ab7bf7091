import type { Arithmetic } from "../../../src/elementary/arithmetic.ts";
import { powerOfMagnitude } from "../../../src/elementary/power.ts";
import { scalarArithmetic } from "../../../src/elementary/scalar.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { productOf, withProducts } from "../arithmetic/power.ts";

/** `sign(x) * abs(x)^a`. */
export function signedPower<V, M>(on: Arithmetic<V, M>, x: V, a: V): V {
  const magnitude = on.abs(x);
  return withSign(on, x, magnitude, withProducts(on, magnitude, a, powerOfMagnitude(on, magnitude, a)));
}

/** A power of the magnitude of x with the sign of x. */
function withSign<V, M>(on: Arithmetic<V, M>, x: V, magnitude: V, raised: V): V {
  const signed = on.orBits(raised, on.andBits(x, on.number(-0)));
  // Zero has no sign: null where 0^a is infinite.
  return on.select(on.eq(x, on.number(0)), on.mul(magnitude, raised), signed);
}

export const operator = defineOperator({
  name: "signed_power",
  aliases: { native: ["signedpower"] },
  axis: "elementwise",
  parameters: [
    { name: "x", kind: "series" },
    { name: "a", kind: "series" },
  ],
  result: "series",
  unit: "other",
  summary:
    "Sign of x times the absolute value of x to the power a, which keeps the order of x for positive a.",
  nulls: "Null if either value is null, and for zero to a negative power.",
  source:
    "signed_power(x, y) of the WorldQuant BRAIN operators; SignedPower of Kakushadze (2015), arXiv:1601.00991",
  costNs: () => 22,
  codeNs: () => 12,
  nullWhere: { domain: (x, a) => x === 0 && a < 0 },
  reference: (x, a) => signedPower(scalarArithmetic, x, a),
  lower: (on, x, a) => {
    const magnitude = on.abs(x);
    const product = productOf(on, magnitude, on.constantOf(a));
    return product === null
      ? on.outline("signed_power", signedPower, x, a)
      : withSign(on, x, magnitude, product);
  },
  examples: [
    { formula: "signed_power(x, 2)", inputs: { x: [-3, 3, 0, null] }, output: [-9, 9, 0, null] },
    { formula: "signed_power(x, y)", inputs: { x: [-4, 9, -2], y: [0.5, 0.5, null] }, output: [-2, 3, null] },
    // Zero has no sign to give to the infinity that 0^-1 is.
    { formula: "signed_power(x, -1)", inputs: { x: [-2, 0, Infinity] }, output: [-0.5, null, 0] },
  ],
});
