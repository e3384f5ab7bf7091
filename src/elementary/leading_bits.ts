import type { Arithmetic } from "./arithmetic.ts";

/** Masks of the bits after the first 15 or 26 of the 53 significant ones. */
export const BEHIND_15 = (1n << 38n) - 1n;
export const BEHIND_26 = (1n << 27n) - 1n;

/**
 * x without its last bits, so that products of such values are exact. Not by one `and`: its mask would be a NaN, whose
 * bits JavaScript need not keep.
 */
export function leadingBits<V, M>(on: Arithmetic<V, M>, x: V, behind: bigint): V {
  const last = on.bits(behind);
  return on.xorBits(on.orBits(x, last), last);
}
