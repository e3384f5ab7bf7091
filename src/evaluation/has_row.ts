import { HAS_ROW } from "../dag/row_members.ts";

/** Those of the columns that a graph reads which the input brings: the field that says who has a row is made of `present`. */
export function broughtFields(names: readonly string[]): string[] {
  return names.filter((name) => name !== HAS_ROW);
}

/** Writes the field `HAS_ROW`: 1 where the input has a row, NaN elsewhere. */
export function fillHasRow(target: Float64Array, present: Uint8Array): void {
  for (let cell = 0; cell < target.length; cell++) target[cell] = present[cell] === 1 ? 1 : Number.NaN;
}
