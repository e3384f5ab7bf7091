import fc from "fast-check";
import { alignExponents } from "../../src/exact/dyadic.ts";

/** Values that hurt: wide exponents, near cancellation, ties of rounding, few bits, ranks, prices, constants. */
const value = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, min: -1e3, max: 1e3 }),
  fc.integer({ min: -4, max: 4 }),
  fc.integer({ min: 1, max: 100 }).map((rank) => rank / 100),
  fc.integer({ min: 900, max: 1100 }).map((cents) => cents / 100),
  fc.integer({ min: -3, max: 3 }).map((step) => 1e9 + step),
  fc.integer({ min: -3, max: 3 }).map((step) => 1 + step * Number.EPSILON),
  fc.constantFrom(1e15, -1e15, 5e-324, -5e-324, 1e308, -1e308, 2 ** -1022, 0, -0, 0.1),
);

/** Rows of one kind of value each, so that values of similar magnitude meet. */
const family = fc.oneof(
  value.map((one) => fc.constant(one)),
  fc.constant(value),
  fc
    .constantFrom(1, 1e9, 1e-300, 1e300, 1e-160, 1e150)
    .map((unit) => fc.double({ noNaN: true, min: -1, max: 1 }).map((x) => x * unit)),
  fc.constant(fc.integer({ min: 0, max: 3 })),
  fc.constant(fc.integer({ min: 900, max: 1100 }).map((cents) => cents / 100)),
);

const vector = (length: number) =>
  family
    .chain((one) => fc.array(one, { minLength: length, maxLength: length }))
    .map((cells) => Float64Array.from(cells));

/** `count` vectors of one length from 1 to 30. */
export const vectors = (count: number) =>
  fc
    .integer({ min: 1, max: 30 })
    .chain((length) => fc.tuple(...Array.from({ length: count }, () => vector(length))));

/** Constants as formulas have them, and some that hurt. */
export const constant = fc.oneof(
  fc.constantFrom(0, 1, -1, 2, 3, 4, 0.01, 1.4826, 1e-320, 1e300, -1e-9),
  fc.double({ noNaN: true, min: -10, max: 10 }),
);

export const runs = { numRuns: 2000 };

/** The values as integers over one exponent, with their sums, as the definitions use them. */
export function exactRow(values: Float64Array) {
  const { integers, exponent } = alignExponents(values);
  return { integers, exponent, count: BigInt(integers.length), sum: add(integers) };
}

export const add = (values: readonly bigint[]) => values.reduce((sum, one) => sum + one, 0n);

export const absolute = (one: bigint) => (one < 0n ? -one : one);

/** `n * sum(x * y) - sum(x) * sum(y)`: n(n - 1) times the sample covariance. */
export function moment(x: readonly bigint[], y: readonly bigint[]): bigint {
  return BigInt(x.length) * add(x.map((one, i) => one * (y[i] as bigint))) - add(x) * add(y);
}

/** What a function writes to its last argument. */
export function written(length: number, write: (output: Float64Array) => void): number[] {
  const output = new Float64Array(length).fill(-12_345.678);
  write(output);
  return Array.from(output);
}
