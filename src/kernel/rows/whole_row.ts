import type { Code } from "../emit/code.ts";
import { STEP_LANES } from "../emit/vectors.ts";
import { pushPaddedRow } from "./padded_row.ts";
import { rowParameters } from "./row_parameters.ts";
import type { RowScratch } from "./row_scratch.ts";
import { STEP_BYTES } from "./segment.ts";

/** Emits code that computes the statistic of the row as one segment. */
export function emitWholeRow(code: Code, laneCount: number, scratch: RowScratch, statistic: number): void {
  const { input, output, node } = rowParameters(code);
  pushPaddedRow(code, input, laneCount, STEP_LANES, scratch);
  const bytes = Math.ceil(laneCount / STEP_LANES) * STEP_BYTES;
  // Rows of columns are whole cache lines, so the result may end at a whole step as well.
  code.get(output).i32(bytes).get(node).call(statistic);
}
