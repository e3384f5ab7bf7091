import { defineOperator } from "../../../src/operator/definition.ts";
import type { CellBuilder, Value } from "../../../src/operator/lowering.ts";

/** Long division in base 2: doubling, subtracting from what is less than twice as large, and halving are exact. */
function lowerRemainder(on: CellBuilder, x: Value, y: Value): Value {
  const [dividend, divisor, zero] = [on.abs(x), on.abs(y), on.number(0)];
  const isDefined = on.and(on.lt(dividend, on.number(Number.POSITIVE_INFINITY)), on.lt(zero, divisor));
  const isLonger = on.and(isDefined, on.le(divisor, dividend));
  const [largest] = on.repeat(
    [divisor],
    (part) => on.and(isLonger, on.le(on.add(part, part), dividend)),
    (part) => [on.add(part, part)],
  );
  const [rest] = on.repeat(
    [dividend, largest],
    (_, part) => on.and(isLonger, on.le(divisor, part)),
    (left, part) => [on.select(on.le(part, left), on.sub(left, part), left), on.mul(part, on.number(0.5))],
  );
  const [isBelow, isDivisorBelow] = [on.lt(x, zero), on.lt(y, zero)];
  const isOpposite = on.or(on.andNot(isBelow, isDivisorBelow), on.andNot(isDivisorBelow, isBelow));
  const signed = on.select(isBelow, on.neg(rest), rest);
  const moved = on.select(isOpposite, on.add(signed, y), signed);
  const signedZero = on.select(isDivisorBelow, on.number(-0), zero);
  return on.keep(isDefined, on.select(on.eq(rest, zero), signedZero, moved));
}

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
  unit: "same",
  summary: "Remainder of x divided by y, with the sign of y: x - y * floor(x / y).",
  nulls: "Null if either value is null, if y is zero, and if x is infinite.",
  source: "x % y of Python and pandas (Series.mod)",
  costNs: () => 10,
  nullWhere: { infinite_input: (x) => Math.abs(x) === Infinity, division_by_zero: (_x, y) => y === 0 },
  reference: (x, y) => {
    const rest = x % y; // exact, with the sign of x
    if (rest === 0) return y < 0 ? -0 : 0;
    return rest < 0 !== y < 0 ? rest + y : rest;
  },
  lower: lowerRemainder,
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
