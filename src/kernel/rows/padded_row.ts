import type { Code, Local } from "../emit/code.ts";
import { SCRATCH_GLOBAL } from "../emit/module.ts";
import type { RowScratch } from "./row_scratch.ts";

const VALUE_BYTES = Float64Array.BYTES_PER_ELEMENT;

/** Pushes the address of a row that is padded with nulls to whole steps: the row itself or a copy. */
export function pushPaddedRow(
  code: Code,
  row: Local,
  laneCount: number,
  stepLanes: number,
  scratch: RowScratch,
): void {
  const lanes = Math.ceil(laneCount / stepLanes) * stepLanes;
  if (lanes === laneCount) {
    code.get(row);
    return;
  }
  // What follows the row in its column is not null.
  const copy = scratch.part("row", lanes * VALUE_BYTES);
  const base = code.locals.add("i32");
  code.getGlobal(SCRATCH_GLOBAL).i32(copy).op("i32.add").tee(base).get(row);
  code.i32(laneCount * VALUE_BYTES).memoryCopy();
  for (let lane = laneCount; lane < lanes; lane++) {
    code
      .get(base)
      .f64(Number.NaN)
      .memory("f64.store", lane * VALUE_BYTES);
  }
  code.get(base);
}
