import type { Code } from "../../emit/code.ts";
import { copyBytes, type I32, locals, Pointer } from "../../emit/expressions.ts";
import { STEP_LANES, VALUE_BYTES } from "../../memory/vectors.ts";
import { rowParameters } from "./row_parameters.ts";
import { type RowScratch, scratchAddress } from "./row_scratch.ts";

/** The number of lanes in whole steps. */
export function paddedLanes(laneCount: number): number {
  return STEP_LANES * Math.ceil(laneCount / STEP_LANES);
}

/** The address of a row that is padded with nulls to whole steps: the row itself, or a copy that this emits. */
export function emitPaddedRow(row: I32, laneCount: number, scratch: RowScratch): I32 {
  const lanes = paddedLanes(laneCount);
  if (lanes === laneCount) return row;
  // What follows the row in its column is not null.
  const copy = scratch.part("row", lanes * VALUE_BYTES);
  const [base] = locals(row.code, "i32", 1);
  copyBytes(base.tee(scratchAddress(row.code).add(copy)), row, laneCount * VALUE_BYTES);
  const values = new Pointer(base, "f64");
  for (let lane = laneCount; lane < lanes; lane++) values.from(base, lane).store(Number.NaN);
  return base;
}

/** Emits code that computes the statistic of the row as one segment. */
export function emitWholeRow(code: Code, laneCount: number, scratch: RowScratch, statistic: number): void {
  const { input, output, node } = rowParameters(code);
  emitPaddedRow(input, laneCount, scratch).push();
  const bytes = paddedLanes(laneCount) * VALUE_BYTES;
  // Rows of columns are whole cache lines, so the result may end at a whole step as well.
  code.get(output).i32(bytes).get(node).call(statistic);
}
