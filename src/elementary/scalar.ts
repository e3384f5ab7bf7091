import type { Arithmetic } from "./arithmetic.ts";

/** From here on every double is whole. Below, a sum with it has no fraction bits left, and IEEE rounds to even. */
const WHOLE_MIN = 2 ** 52;

const double = new Float64Array(1);
const pattern = new BigUint64Array(double.buffer);

function bitsOf(value: number): bigint {
  double[0] = value;
  return pattern[0]!;
}

/** The double of these bits; those beyond 64 are left out. */
function ofBits(bits: bigint): number {
  pattern[0] = bits;
  return double[0]!;
}

/**
 * The operations on one double: what WebAssembly does to each lane, bit for bit. Sign and payload of a NaN are
 * undefined, so no NaN may carry bits.
 */
export const scalarArithmetic: Arithmetic<number, boolean> = {
  number: (value) => value,
  bits: ofBits,
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  sqrt: Math.sqrt,
  neg: (a) => -a,
  abs: Math.abs,
  nearest: (a) => {
    const magnitude = Math.abs(a);
    const rounded = magnitude < WHOLE_MIN ? magnitude + WHOLE_MIN - WHOLE_MIN : magnitude;
    return a < 0 || Object.is(a, -0) ? -rounded : rounded;
  },
  floor: Math.floor,
  trunc: Math.trunc,
  ceil: Math.ceil,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
  and: (a, b) => a && b,
  or: (a, b) => a || b,
  not: (a) => !a,
  andNot: (a, b) => a && !b,
  select: (mask, a, b) => (mask ? a : b),
  addBits: (a, b) => ofBits(bitsOf(a) + bitsOf(b)),
  subBits: (a, b) => ofBits(bitsOf(a) - bitsOf(b)),
  andBits: (a, b) => ofBits(bitsOf(a) & bitsOf(b)),
  orBits: (a, b) => ofBits(bitsOf(a) | bitsOf(b)),
  xorBits: (a, b) => ofBits(bitsOf(a) ^ bitsOf(b)),
  shiftLeft: (a, count) => ofBits(bitsOf(a) << BigInt(count)),
  shiftRight: (a, count) => ofBits(bitsOf(a) >> BigInt(count)),
};
