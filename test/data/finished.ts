import fc from "fast-check";
import type { FinishedRow } from "../../src/kernel/run/finished_rows.ts";

/** What a factor may have: NaN for null, some infinities. */
export const factorValue = fc.oneof(
  { weight: 8, arbitrary: fc.double({ noDefaultInfinity: true, noNaN: true }) },
  fc.constantFrom(Number.NaN, Infinity, -Infinity, -0),
);

/** The bits of bytes, least significant first. */
export function bitsOf(bytes: Uint8Array): number[] {
  return Array.from({ length: 8 * bytes.length }, (_, i) => (bytes[i >> 3]! >> (i & 7)) & 1);
}

/** The 64-bit patterns of values and of the one NaN that stands under every null. */
export function patternsOf(expected: readonly (number | null)[]): bigint[] {
  const values = Float64Array.from(expected, (one) => one ?? 0);
  return [...new BigUint64Array(values.buffer)].map((bits, i) =>
    expected[i] === null ? 0x7ff8n << 48n : bits,
  );
}

/** Values whose nulls are NaNs of other bits than the usual ones. */
export function withOddNulls(values: readonly number[]): Float64Array {
  const odd = Float64Array.from(values);
  const bits = new BigUint64Array(odd.buffer);
  for (const [i, value] of values.entries()) if (Number.isNaN(value)) bits[i] = 0xfff8000000000001n;
  return odd;
}

/** A row as executors finish it, of values with NaN for null. */
export function finished(values: readonly number[]): FinishedRow {
  const words = Math.ceil(values.length / 32);
  const row = {
    values: new Float64Array(new SharedArrayBuffer(8 * values.length)),
    valid: new Uint32Array(new SharedArrayBuffer(4 * words)),
    infinite: new Uint32Array(new SharedArrayBuffer(4 * words)),
  };
  for (const [lane, value] of values.entries()) {
    row.values[lane] = value;
    if (Number.isNaN(value)) continue;
    row.valid[lane >> 5]! |= 1 << (lane & 31);
    if (!Number.isFinite(value)) row.infinite[lane >> 5]! |= 1 << (lane & 31);
  }
  return row;
}
