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

/** A row as executors finish it, of values with NaN for null. */
export function finished(values: readonly number[]): FinishedRow {
  const words = Math.ceil(values.length / 32);
  const row = {
    values: new Float64Array(new SharedArrayBuffer(8 * values.length)),
    valid: new Uint32Array(new SharedArrayBuffer(4 * words)),
    infinite: new Uint32Array(new SharedArrayBuffer(4 * words)),
  };
  for (const [lane, value] of values.entries()) {
    if (Number.isNaN(value)) continue;
    row.values[lane] = value;
    row.valid[lane >> 5]! |= 1 << (lane & 31);
    if (!Number.isFinite(value)) row.infinite[lane >> 5]! |= 1 << (lane & 31);
  }
  return row;
}
