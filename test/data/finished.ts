import type { FinishedRow } from "../../src/kernel/finished_rows.ts";

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
