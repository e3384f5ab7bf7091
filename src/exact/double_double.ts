/**
 * Double-double arithmetic: a value is the unevaluated sum of two doubles, about 106 bits. Error-free transformations
 * after Dekker (1971), Knuth (1969) and Joldes, Muller, Popescu (2017, doi:10.1145/3121432); their relative error
 * bounds, at most 15 * 2^-106 per operation here, carry over to the statistics. Each function returns the high part and
 * leaves the low part in `low[0]`: returning pairs would allocate in the innermost loops.
 */
export const low = new Float64Array(1);

/** Bound on the relative error of one operation below, with a wide margin. */
export const RELATIVE_ERROR = 2 ** -101;

/** `a + b` exactly. */
export function twoSum(a: number, b: number): number {
  const sum = a + b;
  const bPart = sum - a;
  low[0] = a - (sum - bPart) + (b - bPart);
  return sum;
}

/** `a * b` exactly, unless the product of the low halves falls below 2^-1074 or a factor exceeds 2^996. */
export function twoProduct(a: number, b: number): number {
  const product = a * b;
  const aScaled = 134217729 * a; // 2^27 + 1 splits a double into two halves of 26 bits
  const aHigh = aScaled - (aScaled - a);
  const aLow = a - aHigh;
  const bScaled = 134217729 * b;
  const bHigh = bScaled - (bScaled - b);
  const bLow = b - bHigh;
  low[0] = aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
  return product;
}

/** `(aHigh + aLow) + (bHigh + bLow)`. */
export function add(aHigh: number, aLow: number, bHigh: number, bLow: number): number {
  const sum = twoSum(aHigh, bHigh);
  const sumLow = low[0] as number;
  const tail = twoSum(aLow, bLow);
  const tailLow = low[0] as number;
  const middle = sumLow + tail;
  const high = sum + middle;
  const rest = middle - (high - sum) + tailLow;
  const result = high + rest;
  low[0] = rest - (result - high);
  return result;
}

/** `(aHigh + aLow) * (bHigh + bLow)`. */
export function multiply(aHigh: number, aLow: number, bHigh: number, bLow: number): number {
  const product = twoProduct(aHigh, bHigh);
  const rest = (low[0] as number) + (aHigh * bLow + aLow * bHigh);
  const result = product + rest;
  low[0] = rest - (result - product);
  return result;
}

/** `(aHigh + aLow) / (bHigh + bLow)`. */
export function divide(aHigh: number, aLow: number, bHigh: number, bLow: number): number {
  const quotient = aHigh / bHigh;
  const back = multiply(bHigh, bLow, quotient, 0);
  const backLow = low[0] as number;
  const rest = (aHigh - back + (aLow - backLow)) / bHigh;
  const result = quotient + rest;
  low[0] = rest - (result - quotient);
  return result;
}

/** `sqrt(high + low)` of a positive value. */
export function squareRoot(high: number, lowPart: number): number {
  const root = Math.sqrt(high);
  const square = twoProduct(root, root);
  const rest = (high - square - (low[0] as number) + lowPart) / (2 * root);
  const result = root + rest;
  low[0] = rest - (result - root);
  return result;
}

/**
 * The double nearest to a real number known to lie within `error` of `high + lowPart`, or NaN if the bound does
 * not decide which double that is.
 */
export function roundIfCertain(high: number, lowPart: number, error: number): number {
  const rounded = high + lowPart;
  const rest = lowPart - (rounded - high);
  const slack = 2 * error + Math.abs(rest) * 2 ** -50; // also covers the roundings of the two tests below
  return rounded + (rest - slack) === rounded && rounded + (rest + slack) === rounded ? rounded : Number.NaN;
}
