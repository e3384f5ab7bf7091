import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decompose, roundQuadratic, roundRatio, roundSquareRoot } from "../../src/exact/dyadic.ts";
import { exactDeviationBound } from "../../src/exact/row_bounds.ts";
import { exactStandardScores } from "../../src/exact/row_statistics.ts";
import { absolute, constant, exactRow, moment, runs, vectors, written } from "./row_values.ts";

const { NaN: none, POSITIVE_INFINITY: inf } = Number;
const scores = (...values: number[]) =>
  written(values.length, (output) => exactStandardScores(Float64Array.from(values), output));

/** Sign of `(a + sign * sqrt(square)) / divisor - p / q` for positive divisors, by squaring: no root is taken. */
function compare(a: bigint, sign: bigint, square: bigint, divisor: bigint, p: bigint, q: bigint): number {
  const rest = p * divisor - a * q; // compare sign * sqrt(square) * q with it
  const left = sign * square * q * q;
  const right = (rest < 0n ? -1n : 1n) * rest * rest;
  return left < right ? -1 : left > right ? 1 : 0;
}

describe("every result is the exact value rounded once", () => {
  test("standard scores", () => {
    fc.assert(
      fc.property(vectors(1), ([x]) => {
        const { integers, count, sum } = exactRow(x!);
        const square = moment(integers, integers);
        const expected = integers.map((one) => {
          const above = count * one - sum;
          if (square === 0n) return none;
          const size = roundSquareRoot(above * above * (count - 1n), count * square, 0);
          return above < 0n ? -size : size;
        });
        expect(written(x!.length, (output) => exactStandardScores(x!, output))).toEqual(expected);
      }),
      runs,
    );
  });

  test("mean plus a multiple of the deviation lies nearest among the doubles", () => {
    fc.assert(
      fc.property(vectors(1), constant, ([x], factor) => {
        const bound = exactDeviationBound(x!, factor);
        const { integers, exponent, count, sum } = exactRow(x!);
        if (count < 2n) {
          expect(bound).toBeNaN();
          return;
        }
        // In units of 2^scale: (sum + f * sqrt(n * m / (n - 1))) / n.
        const f = decompose(factor);
        const shift = BigInt(Math.max(0, -f.exponent));
        const step = f.integer << (BigInt(f.exponent) + shift);
        const square = step * step * count * moment(integers, integers) * (count - 1n);
        const rational = (sum << shift) * (count - 1n);
        const divisor = count * (count - 1n);
        const scale = exponent - Number(shift);
        const beside = (other: number) => {
          // The midpoint of the result and its neighbour, as p / q in units of 2^scale.
          const [a, b] = [decompose(bound), decompose(other)];
          const least = Math.min(a.exponent, b.exponent, scale) - 1;
          const middle =
            (a.integer << BigInt(a.exponent - least)) + (b.integer << BigInt(b.exponent - least));
          return compare(
            rational,
            f.integer < 0n ? -1n : 1n,
            square,
            divisor,
            middle,
            2n << BigInt(scale - least),
          );
        };
        if (!Number.isFinite(bound)) return;
        if (Math.abs(bound) < Number.MAX_VALUE) {
          expect(beside(neighbour(bound, 1))).toBeLessThanOrEqual(0);
          expect(beside(neighbour(bound, -1))).toBeGreaterThanOrEqual(0);
        }
      }),
      runs,
    );
  });

  test("a root that is whole makes a fraction", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
        fc.bigInt({ min: 0n, max: 10n ** 30n }),
        fc.bigInt({ min: 1n, max: 10n ** 30n }),
        fc.integer({ min: -1100, max: 200 }),
        (rational, root, divisor, exponent) => {
          for (const sign of [1n, -1n] as const) {
            expect(roundQuadratic(rational, sign, root * root, divisor, exponent)).toBe(
              roundRatio(rational + sign * root, divisor, exponent),
            );
          }
        },
      ),
    );
  });

  test("a root alone", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10n ** 60n }),
        fc.bigInt({ min: 1n, max: 10n ** 30n }),
        (square, divisor) => {
          const root = roundSquareRoot(square, divisor * divisor, 0);
          expect(roundQuadratic(0n, 1n, square, divisor, 0)).toBe(root);
          expect(roundQuadratic(0n, -1n, square, divisor, 0)).toBe(-root);
        },
      ),
    );
  });
});

/** The next double above (1) or below (-1) a finite one. */
function neighbour(x: number, direction: 1 | -1): number {
  if (x === 0) return direction * 2 ** -1074;
  const bits = new BigInt64Array(Float64Array.of(x).buffer);
  bits[0] = (bits[0] as bigint) + BigInt(x > 0 ? direction : -direction);
  return new Float64Array(bits.buffer)[0] as number;
}

describe("known values", () => {
  test("scores", () => {
    expect(scores(1, 2, 3)).toEqual([-1, 0, 1]);
    expect(scores(1e15, 1e15 + 1, 1e15 + 2)).toEqual([-1, 0, 1]);
    expect(scores(0, 1)).toEqual([-Math.SQRT1_2, Math.SQRT1_2]);
    expect(scores(1e308, -1e308)).toEqual([Math.SQRT1_2, -Math.SQRT1_2]);
    expect(scores(0, 5e-324)).toEqual([-Math.SQRT1_2, Math.SQRT1_2]);
  });

  test("one lane, equal lanes and infinities have no score", () => {
    expect(scores()).toEqual([]);
    expect(scores(7)).toEqual([none]);
    expect(scores(0.1, 0.1, 0.1)).toEqual([none, none, none]);
    expect(scores(1, inf, 2)).toEqual([none, none, none]);
    expect(scores(inf, inf)).toEqual([none, none]);
  });

  test("bounds", () => {
    expect(exactDeviationBound(Float64Array.of(1, 2, 3), 2)).toBe(4);
    expect(exactDeviationBound(Float64Array.of(1, 2, 3), -2)).toBe(0);
    expect(exactDeviationBound(Float64Array.of(1, 2, 3), 0)).toBe(2);
    expect(exactDeviationBound(Float64Array.of(0.1, 0.1, 0.1), 1e9)).toBe(0.1);
    expect(exactDeviationBound(Float64Array.of(1e308, -1e308), 4)).toBe(inf);
    expect(exactDeviationBound(Float64Array.of(1, inf), 4)).toBeNaN();
    expect(exactDeviationBound(Float64Array.of(1), 4)).toBeNaN();
    // The square root of 2 to 53 bits, and its rounding error.
    expect(exactDeviationBound(Float64Array.of(-1, 1), 1)).toBe(Math.SQRT2);
    const rest = exactDeviationBound(Float64Array.of(-1 - Math.SQRT2, 1 - Math.SQRT2), 1);
    expect(rest).toBe(-1.4265987654039097e-16);
  });

  test("lanes in another order get the same scores", () => {
    const values = [0.3, 1e9, -7, 2e-9, 5, 1e9 + 0.1];
    const order = [3, 1, 0, 5, 4, 2];
    const expected = scores(...values);
    expect(scores(...order.map((i) => values[i] as number))).toEqual(order.map((i) => expected[i]));
    expect(expected.every((score) => absolute(BigInt(Math.round(score))) <= 2n)).toBe(true);
  });
});
