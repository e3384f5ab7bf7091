import type { Arithmetic } from "./arithmetic.ts";

/** `coefficients[0] + coefficients[1] * x + ...` by Horner's rule. */
export function polynomial<V, M>(on: Arithmetic<V, M>, x: V, coefficients: readonly number[]): V {
  let sum = on.number(coefficients.at(-1) as number);
  for (let i = coefficients.length - 2; i >= 0; i--)
    sum = on.add(on.mul(sum, x), on.number(coefficients[i] as number));
  return sum;
}
