import type { Arithmetic } from "./arithmetic.ts";

/** Splits doubles into mantissa and exponent, and joins them again, by their bits. */

const BIAS = 1023;
const FRACTION_LENGTH = 52;
const FRACTION_BITS = 0x000f_ffff_ffff_ffffn;
const ONE_BITS = 0x3ff0_0000_0000_0000n;
const NORMAL_MIN = 2 ** -1022;

/** Makes every subnormal number normal. */
const SUBNORMAL_SCALE_LOG2 = 54;

/** An integer i below it, or'ed into its last bits, gives `INTEGER_CARRIER + i` as a double. */
const INTEGER_CARRIER = 2 ** FRACTION_LENGTH;

/**
 * Temporary offset of the exponent. It keeps the intermediate bit pattern from being a NaN, whose payload JavaScript
 * may change. x = 1 has exponent bits 1023, and 1023 + 2047 = 3070 is a set sign bit with exponent bits 1022: a normal
 * number.
 */
const DETOUR = 2047;
const CARRIER = INTEGER_CARRIER + BIAS + DETOUR;

/** `-DETOUR << 52` in 64 bits. */
const DETOUR_BITS = 0x8010_0000_0000_0000n;

/** A sum with it has no fraction bits left: its last bits are the integer nearest to the other summand. */
const ROUNDER = 1.5 * 2 ** FRACTION_LENGTH;

/** A range of mantissas: from the double of this pattern to twice that. */
export interface MantissaRange {
  readonly leastBits: bigint;
  readonly shiftBits: bigint;
}

/** The range of mantissas from a double of 0.5..1, given by its pattern. */
export function mantissasFrom(leastBits: bigint): MantissaRange {
  return { leastBits, shiftBits: DETOUR_BITS - (ONE_BITS - leastBits) };
}

/** A positive number as `mantissa * 2^exponent`. */
export interface Scientific<V> {
  readonly mantissa: V;
  readonly exponent: V;
}

/** An integer as a double, and as the last bits of another, with a bias that makes it positive. */
export interface Rounded<V> {
  readonly integer: V;
  readonly biased: V;
}

/** Splits a normal x > 0. The exponent is too small by `carrier - CARRIER`. */
export function splitNormal<V, M>(
  on: Arithmetic<V, M>,
  x: V,
  { leastBits, shiftBits }: MantissaRange,
  carrier: V = on.number(CARRIER),
): Scientific<V> {
  const shifted = on.subBits(x, on.bits(shiftBits));
  const fraction = on.andBits(shifted, on.bits(FRACTION_BITS));
  const exponent = on.orBits(on.shiftRight(shifted, FRACTION_LENGTH), on.number(INTEGER_CARRIER));
  return { mantissa: on.addBits(fraction, on.bits(leastBits)), exponent: on.sub(exponent, carrier) };
}

/** `splitNormal`, also for subnormal x. */
export function split<V, M>(on: Arithmetic<V, M>, x: V, range: MantissaRange): Scientific<V> {
  const isSubnormal = on.lt(x, on.number(NORMAL_MIN));
  const normal = on.select(isSubnormal, on.mul(x, on.number(2 ** SUBNORMAL_SCALE_LOG2)), x);
  const carrier = on.select(isSubnormal, on.number(CARRIER + SUBNORMAL_SCALE_LOG2), on.number(CARRIER));
  return splitNormal(on, normal, range, carrier);
}

function round<V, M>(on: Arithmetic<V, M>, x: V, bias: number): Rounded<V> {
  const rounder = on.number(ROUNDER + bias);
  const biased = on.add(x, rounder);
  return { integer: on.sub(biased, rounder), biased };
}

/** The integer nearest to x, |x| <= 1000, in the form of `powerOfTwo`. */
export function roundForPower<V, M>(on: Arithmetic<V, M>, x: V): Rounded<V> {
  return round(on, x, BIAS);
}

/** `2^k`. */
export function powerOfTwo<V, M>(on: Arithmetic<V, M>, k: Rounded<V>): V {
  return on.shiftLeft(k.biased, FRACTION_LENGTH);
}

/** The integer nearest to x, |x| <= 2000, in the form of `scale`. */
export function roundForScale<V, M>(on: Arithmetic<V, M>, x: V): Rounded<V> {
  return round(on, x, 2 * BIAS);
}

/**
 * `x * 2^k` in two steps, since some results have a `2^k` that is not a double. Only a subnormal result is rounded, and
 * only once.
 */
export function scale<V, M>(on: Arithmetic<V, M>, x: V, k: Rounded<V>): V {
  const half = on.shiftRight(k.biased, 1);
  const otherHalf = on.subBits(k.biased, half);
  return on.mul(on.mul(x, on.shiftLeft(half, FRACTION_LENGTH)), on.shiftLeft(otherHalf, FRACTION_LENGTH));
}
