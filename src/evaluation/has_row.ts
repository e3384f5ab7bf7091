import { HAS_ROW } from "../dag/row_members.ts";

/** The columns of a graph that the input provides: `HAS_ROW` is computed from `present`. */
export function broughtFields(names: readonly string[]): string[] {
  return names.filter((name) => name !== HAS_ROW);
}

/** Fills the field `HAS_ROW`: 1 where the input has a row, NaN elsewhere. */
export function fillHasRow(target: Float64Array, present: Uint8Array): void {
  for (let cell = 0; cell < target.length; cell++) target[cell] = present[cell] === 1 ? 1 : Number.NaN;
}
