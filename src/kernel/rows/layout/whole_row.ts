import type { Code } from "../../emit/code.ts";
import { emitPaddedRow, paddedLanes } from "./padded_row.ts";
import { rowParameters } from "./row_parameters.ts";
import type { RowScratch } from "./row_scratch.ts";

/** Emits code that computes the statistic of the row as one segment. */
export function emitWholeRow(code: Code, laneCount: number, scratch: RowScratch, statistic: number): void {
  const { input, output, node } = rowParameters(code);
  emitPaddedRow(input, laneCount, scratch).push();
  const bytes = paddedLanes(laneCount) * Float64Array.BYTES_PER_ELEMENT;
  // Rows of columns are whole cache lines, so the result may end at a whole step as well.
  code.get(output).i32(bytes).get(node).call(statistic);
}
