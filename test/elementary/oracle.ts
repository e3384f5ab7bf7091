import { decompose } from "../../src/exact/dyadic.ts";

/**
 * Elementary functions of doubles to some 250 bits in integers, by their power series: slow, and independent of the
 * code under test. A fixed-point number of precision p is an integer over 2^p.
 */

/** `integer * 2^exponent`. */
export interface Real {
  readonly integer: bigint;
  readonly exponent: number;
}

const PRECISION = 320;

const bitLength = (n: bigint) => (n === 0n ? 0 : n.toString(2).length);
const absolute = (n: bigint) => (n < 0n ? -n : n);

/** Multiplied by 2^count, rounded down. */
function shifted(n: bigint, count: number): bigint {
  return count < 0 ? n >> BigInt(-count) : n << BigInt(count);
}

/** Enough bits to hold x and as many below its leading bit. */
function precisionFor(x: number): number {
  return PRECISION + Math.max(0, -decompose(x).exponent);
}

function fixed(x: number, precision: number): bigint {
  const { integer, exponent } = decompose(x);
  return shifted(integer, exponent + precision);
}

/** `2 * atanh(numerator / denominator)` by its Taylor series. */
function doubleHyperbolicArcTangent(numerator: bigint, denominator: bigint, precision: number): bigint {
  let power = shifted(numerator, precision) / denominator;
  let sum = power;
  for (let n = 3n; power !== 0n; n += 2n) {
    power = (((power * numerator) / denominator) * numerator) / denominator;
    sum += power / n;
  }
  return 2n * sum;
}

const ln2Known = new Map<number, bigint>();

function ln2(precision: number): bigint {
  const known = ln2Known.get(precision) ?? doubleHyperbolicArcTangent(1n, 3n, precision);
  ln2Known.set(precision, known);
  return known;
}

/** The logarithm of a positive number. */
function logarithm({ integer, exponent }: Real, precision: number): bigint {
  const length = bitLength(integer);
  const isLow = shifted(integer, 11 - length) < 1448n; // that is below sqrt(1/2) of the next power of two
  const log2One = isLow ? length - 1 : length;
  const one = 1n << BigInt(log2One);
  const s = shifted(integer - one, precision) / (integer + one);
  return (
    BigInt(exponent + log2One) * ln2(precision) +
    doubleHyperbolicArcTangent(s, 1n << BigInt(precision), precision)
  );
}

/** The exponential of a fixed-point number. */
function exponential(x: bigint, precision: number): Real {
  const k = x / ln2(precision);
  let term = 1n << BigInt(precision);
  const r = x - k * ln2(precision);
  let sum = term;
  for (let n = 1n; term !== 0n && term !== -1n; n++) {
    term = shifted(term * r, -precision) / n;
    sum += term;
  }
  return { integer: sum, exponent: Number(k) - precision };
}

export function exactExp(x: number): Real {
  const precision = precisionFor(x);
  return exponential(fixed(x, precision), precision);
}

export function exactLog(x: number): Real {
  return { integer: logarithm(decompose(x), PRECISION), exponent: -PRECISION };
}

export function exactLog1p(x: number): Real {
  const precision = precisionFor(x);
  const sum = { integer: (1n << BigInt(precision)) + fixed(x, precision), exponent: -precision };
  return { integer: logarithm(sum, precision), exponent: -precision };
}

export function exactTanh(x: number): Real {
  const precision = precisionFor(x);
  const { integer, exponent } = exponential(fixed(2 * Math.abs(x), precision), precision);
  const power = shifted(integer, exponent + precision);
  const one = 1n << BigInt(precision);
  const magnitude = shifted(power - one, precision) / (power + one);
  return { integer: x < 0 ? -magnitude : magnitude, exponent: -precision };
}

/** For x > 0. */
export function exactPower(x: number, y: number): Real {
  const { integer, exponent } = decompose(y);
  const product = shifted(logarithm(decompose(x), PRECISION) * integer, exponent);
  return exponential(product, PRECISION);
}

/**
 * Distance of a double from an exact value, in units of the last place of doubles of that magnitude. An infinity counts
 * as the power of two that ends the range of finite doubles.
 */
export function errorInUlps(actual: number, exact: Real): number {
  const infinite = { integer: actual > 0 ? 1n : -1n, exponent: 1024 };
  const { integer, exponent } = Number.isFinite(actual) ? decompose(actual) : infinite;
  const top = bitLength(absolute(exact.integer)) + exact.exponent;
  if (top > 1024 && !Number.isFinite(actual)) return 0;
  const ulp = Math.max(top - 53, -1074);
  const common = Math.min(exponent, exact.exponent);
  const difference = shifted(integer, exponent - common) - shifted(exact.integer, exact.exponent - common);
  return Number(shifted(absolute(difference), common - ulp + 40)) / 2 ** 40;
}
