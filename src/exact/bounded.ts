import { add, divide, low, multiply, RELATIVE_ERROR, roundIfCertain, squareRoot } from "./double_double.ts";

/** A real number known to lie within `error` of `high + lowPart`; an error of NaN bounds nothing. */
export interface Bounded {
  readonly high: number;
  readonly lowPart: number;
  readonly error: number;
}

/** Outside these magnitudes parts of double-doubles may underflow or overflow. */
const MAGNITUDE_MIN = 2 ** -900;
const MAGNITUDE_MAX = 2 ** 900;

/** True if relative error bounds hold for a value of this magnitude. */
export function isNormal(x: number): boolean {
  return Math.abs(x) > MAGNITUDE_MIN && Math.abs(x) < MAGNITUDE_MAX;
}

/** A double as it is. */
export function exactly(x: number): Bounded {
  return { high: x, lowPart: 0, error: 0 };
}

/** `a + b`. */
export function plus(a: Bounded, b: Bounded): Bounded {
  const high = add(a.high, a.lowPart, b.high, b.lowPart);
  return { high, lowPart: low[0] as number, error: a.error + b.error + Math.abs(high) * RELATIVE_ERROR };
}

/** `a - b`. */
export function minus(a: Bounded, b: Bounded): Bounded {
  return plus(a, { high: -b.high, lowPart: -b.lowPart, error: b.error });
}

/** `a * b`. */
export function times(a: Bounded, b: Bounded): Bounded {
  const high = multiply(a.high, a.lowPart, b.high, b.lowPart);
  const lowPart = low[0] as number;
  const inherited = Math.abs(a.high) * b.error + Math.abs(b.high) * a.error + a.error * b.error;
  const isSafe = isNormal(high) || a.high === 0 || b.high === 0;
  return { high, lowPart, error: isSafe ? inherited + Math.abs(high) * RELATIVE_ERROR : Number.NaN };
}

/** `a / b`; the error is NaN where b may be 0. */
export function over(a: Bounded, b: Bounded): Bounded {
  const high = divide(a.high, a.lowPart, b.high, b.lowPart);
  const lowPart = low[0] as number;
  const inherited = (a.error + Math.abs(high) * b.error) / (Math.abs(b.high) - b.error);
  // The product back to `a` inside the division loses bits where `a` is tiny, however large the quotient.
  const isSafe = Math.abs(b.high) > 2 * b.error && (a.high === 0 || (isNormal(high) && isNormal(a.high)));
  return { high, lowPart, error: isSafe ? inherited + Math.abs(high) * RELATIVE_ERROR : Number.NaN };
}

/** The square root of a positive number: roots differ by at most the difference of the squares over either root. */
export function rootOf(a: Bounded): Bounded {
  const high = squareRoot(a.high, a.lowPart);
  const lowPart = low[0] as number;
  const isSafe = a.high > 2 * a.error && isNormal(a.high);
  return { high, lowPart, error: isSafe ? a.error / high + high * RELATIVE_ERROR : Number.NaN };
}

/** The double nearest to a bounded number; NaN where the bound does not determine it. */
export function certified({ high, lowPart, error }: Bounded): number {
  const rounded = roundIfCertain(high, lowPart, error);
  return isNormal(rounded) ? rounded : Number.NaN;
}

/** The sum of the values: every addition is off by at most RELATIVE_ERROR of the sum of absolute values. */
export function sumOf(values: Float64Array): Bounded {
  let high = 0;
  let lowPart = 0;
  let magnitude = 0;
  for (let i = 0; i < values.length; i++) {
    high = add(high, lowPart, values[i] as number, 0);
    lowPart = low[0] as number;
    magnitude += Math.abs(values[i] as number);
  }
  const error = isNormal(magnitude) ? magnitude * values.length * RELATIVE_ERROR : Number.NaN;
  return { high, lowPart, error };
}
