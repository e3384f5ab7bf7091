import type { Arithmetic } from "./arithmetic.ts";
import { mantissasFrom, roundForScale, split } from "./binary_exponent.ts";
import { scaledExponential } from "./exp.ts";
import { BEHIND_15, BEHIND_26, leadingBits } from "./leading_bits.ts";
import { LN2_HIGH, LN2_LOW } from "./ln2.ts";
import { polynomial } from "./polynomial.ts";

/**
 * x^y = e^(y ln x). An absolute error of y ln x, which may be 745, is a relative error of the result, so the logarithm
 * is computed to 65 bits, as the sum of a number of 26 bits and a smaller one. No fused operation and no table is used.
 */

/** From 0.8409, about 2^(-1/4). */
const MANTISSAS = mantissasFrom(0x3fea_e8a7_1de6_9ad4n);

/** Mantissas above about 2^(1/4) are multiplied by about 2^(-1/2), and half the logarithm of its inverse is added. */
const MANTISSA_MIDDLE = 1.1892;
const FACTOR = 181 / 256;
const OFFSET_HIGH = 0.17334020660689475; // truncated like LN2_HIGH, so that sums with multiples of that are exact
const OFFSET_LOW = -2.6389100094321346e-14;

/** A sum with it is rounded to a multiple of 2^-26. */
const MANTISSA_ROUNDER = 1.5 * 2 ** 26;

/** Near 1/3, with few bits: its product with the cube of a number of 15 bits is exact. */
const THIRD = 85 / 256;

/**
 * `(atanh(v) / v - 1) / v^2 - THIRD = 1/3 - THIRD + v^2/5 + v^4/7 + ...` by powers of v^2, for |v| <= 0.08649: the
 * minimax polynomial for the error relative to v, 2^-66.2. Found as in exp.ts, the first five coefficients rounded one
 * by one.
 */
const TAIL = [
  0.0013020833333332342, 0.20000000000025753, 0.1428571426345175, 0.11111119955263819, 0.0908913440757237,
  0.07867076522244361,
];

/** Values of y ln x where the power is certainly Infinity and certainly 0. */
const OVERFLOW = 710;
const UNDERFLOW = -750;

/** An exact sum. */
interface Parts<V> {
  readonly head: V;
  readonly rest: V;
}

/** A number as `(1 + 2 * (head + rest)) * e^(2 * offset)`. */
interface Reduced<V> extends Parts<V> {
  readonly offset: Parts<V>;
}

/** A number as the sum of three, the first two with few bits, the last far smaller. */
interface Series<V> {
  readonly head: V;
  readonly middle: V;
  readonly low: V;
}

/** A number of 26 bits, the rest, and their rounded sum. */
interface Logarithm<V> extends Parts<V> {
  readonly rounded: V;
}

function reduce<V, M>(on: Arithmetic<V, M>, x: V): Reduced<V> {
  const { mantissa, exponent } = split(on, x, MANTISSAS);
  const isLarge = on.gt(mantissa, on.number(MANTISSA_MIDDLE));
  const choose = (large: number, small: number) => on.select(isLarge, on.number(large), on.number(small));
  const halfFactor = choose(FACTOR / 2, 0.5);
  const rounder = on.number(MANTISSA_ROUNDER);
  const mantissaHead = on.sub(on.add(mantissa, rounder), rounder);
  const high = on.mul(exponent, on.number(LN2_HIGH / 2));
  const low = on.mul(exponent, on.number(LN2_LOW / 2));
  return {
    head: on.sub(on.mul(mantissaHead, halfFactor), on.number(0.5)),
    rest: on.mul(on.sub(mantissa, mantissaHead), halfFactor),
    offset: {
      head: on.add(high, choose(OFFSET_HIGH, 0)),
      rest: on.add(low, choose(OFFSET_LOW, 0)),
    },
  };
}

/**
 * `ln(1 + 2g) / 2 = atanh(v)` with v = g / (1 + g). The first 15 bits of v come from a division, the rest from v (1 +
 * g) = g; of v + v^3 / 3 only what belongs to those 15 bits matters beyond double precision.
 */
function halfLogarithmNearOne<V, M>(on: Arithmetic<V, M>, { head: gHead, rest: gRest }: Parts<V>): Series<V> {
  const g = on.add(gHead, gRest);
  const inverse = on.div(on.number(1), on.add(g, on.number(1)));
  const head = leadingBits(on, on.mul(g, inverse), BEHIND_15);
  const remainder = on.add(on.sub(on.sub(gHead, head), on.mul(head, gHead)), gRest);
  const rest = on.mul(on.sub(remainder, on.mul(head, gRest)), inverse);
  const v = on.add(head, rest);
  const square = on.mul(head, head);
  const cube = on.mul(square, head);
  const cubeRest = on.mul(rest, on.add(on.mul(v, on.add(v, head)), square));
  const tail = on.mul(on.add(cube, cubeRest), polynomial(on, on.mul(v, v), TAIL));
  const third = on.number(THIRD);
  const low = on.add(rest, on.add(on.mul(third, cubeRest), tail));
  return { head, middle: on.mul(third, cube), low };
}

/** Half the logarithm of a finite x > 0, with a relative error below 2^-64.8 on 56,000 arguments. */
function halfLogarithm<V, M>(on: Arithmetic<V, M>, x: V): Logarithm<V> {
  const reduced = reduce(on, x);
  const series = halfLogarithmNearOne(on, reduced);
  const low = on.add(reduced.offset.rest, series.low);
  const rounded = on.add(reduced.offset.head, on.add(series.head, on.add(series.middle, low)));
  const head = leadingBits(on, rounded, BEHIND_26);
  const remainder = on.add(on.add(on.sub(reduced.offset.head, head), series.head), series.middle);
  return { head, rest: on.add(remainder, low), rounded };
}

/** `e^(y * 2 * half)`; undefined where that overflows or underflows. */
function exponential<V, M>(on: Arithmetic<V, M>, twiceY: V, half: Logarithm<V>): V {
  const yHead = leadingBits(on, twiceY, BEHIND_26);
  const yRest = on.sub(twiceY, yHead);
  const head = on.mul(yHead, half.head);
  const rest = on.add(on.mul(yHead, half.rest), on.mul(yRest, half.rounded));
  const k = roundForScale(on, on.mul(head, on.number(Math.LOG2E)));
  const reducedHead = on.sub(head, on.mul(k.integer, on.number(LN2_HIGH)));
  const reducedRest = on.sub(rest, on.mul(k.integer, on.number(LN2_LOW)));
  const high = on.add(reducedHead, reducedRest);
  const low = on.add(on.sub(reducedHead, high), reducedRest);
  return scaledExponential(on, high, low, k);
}

/** `power` for x >= 0 except -0. */
export function powerOfMagnitude<V, M>(on: Arithmetic<V, M>, x: V, y: V): V {
  const infinity = on.number(Number.POSITIVE_INFINITY);
  const zero = on.number(0);
  const half = halfLogarithm(on, x);
  const twiceY = on.add(y, y);
  const value = exponential(on, twiceY, half);
  const orInfinite = on.select(on.lt(x, infinity), half.rounded, infinity);
  const logarithm = on.select(on.eq(x, zero), on.number(Number.NEGATIVE_INFINITY), orInfinite);
  const argument = on.mul(twiceY, logarithm);
  const orInfinity = on.select(on.gt(argument, on.number(OVERFLOW)), infinity, value);
  const orZero = on.select(on.lt(argument, on.number(UNDERFLOW)), zero, orInfinity);
  // 1^Infinity, where the above is NaN; x^0 = 1 needs no special case.
  const isOne = on.and(on.eq(x, on.number(1)), on.eq(y, y));
  const orOne = on.select(isOne, on.number(1), orZero);
  return on.select(on.eq(x, x), orOne, x);
}

/**
 * `x^y` as IEEE 754 defines pow, but NaN for any NaN. The largest error among one million arguments from all ranges of
 * test/elementary is 0.661 ulp for results near the ends of the range, where the logarithm weighs most, 0.605 ulp for
 * usual ones, and 0.750 ulp where the result is subnormal and so rounded twice. A power that is a double is exact.
 */
export function power<V, M>(on: Arithmetic<V, M>, x: V, y: V): V {
  const magnitude = on.abs(x);
  const value = powerOfMagnitude(on, magnitude, y);
  const half = on.mul(y, on.number(0.5));
  const isWhole = on.eq(on.nearest(y), y);
  const isOdd = on.andNot(isWhole, on.eq(on.nearest(half), half));
  const sign = on.select(isOdd, on.andBits(x, on.number(-0)), on.number(0));
  const isBounded = on.lt(magnitude, on.number(Number.POSITIVE_INFINITY));
  const isUndefined = on.andNot(on.and(on.lt(x, on.number(0)), isBounded), isWhole);
  return on.select(isUndefined, on.number(Number.NaN), on.orBits(value, sign));
}
