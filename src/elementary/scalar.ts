import type { Arithmetic } from "./arithmetic.ts";

/** From here on every double is whole. Below, a sum with it has no fraction bits left, and IEEE rounds to even. */
const WHOLE_MIN = 2 ** 52;

const values = new Float64Array(2);
const patterns = new BigUint64Array(values.buffer);

/**
 * The operations on one double: what WebAssembly does to each lane, bit for bit. Sign and payload of a NaN are
 * undefined, so no NaN may carry bits.
 */
export const scalarArithmetic: Arithmetic<number, boolean> = {
  number: (value) => value,
  bits: (pattern) => {
    patterns[0] = pattern;
    return values[0] as number;
  },
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
  addBits: (a, b) => {
    values[0] = a;
    values[1] = b;
    patterns[0] = (patterns[0] as bigint) + (patterns[1] as bigint);
    return values[0];
  },
  subBits: (a, b) => {
    values[0] = a;
    values[1] = b;
    patterns[0] = (patterns[0] as bigint) - (patterns[1] as bigint);
    return values[0];
  },
  andBits: (a, b) => {
    values[0] = a;
    values[1] = b;
    patterns[0] = (patterns[0] as bigint) & (patterns[1] as bigint);
    return values[0];
  },
  orBits: (a, b) => {
    values[0] = a;
    values[1] = b;
    patterns[0] = (patterns[0] as bigint) | (patterns[1] as bigint);
    return values[0];
  },
  xorBits: (a, b) => {
    values[0] = a;
    values[1] = b;
    patterns[0] = (patterns[0] as bigint) ^ (patterns[1] as bigint);
    return values[0];
  },
  shiftLeft: (a, count) => {
    values[0] = a;
    patterns[0] = (patterns[0] as bigint) << BigInt(count);
    return values[0];
  },
  shiftRight: (a, count) => {
    values[0] = a;
    patterns[0] = (patterns[0] as bigint) >> BigInt(count);
    return values[0];
  },
};
