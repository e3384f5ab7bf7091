import type { Code } from "../wasm/code.ts";
import { SCRATCH_GLOBAL } from "../wasm/module.ts";
import type { RowScratch } from "./row_scratch.ts";
import { STEP_BYTES } from "./segment.ts";

const VALUE_BYTES = Float64Array.BYTES_PER_ELEMENT;

/** Emits what computes the statistic of the row as one segment. */
export function emitWholeRow(
  code: Code,
  laneCount: number,
  scratch: RowScratch,
  statistic: number,
  node: number,
): void {
  const [input, output] = code.locals.parameters;
  const rowBytes = laneCount * VALUE_BYTES;
  const bytes = Math.ceil(rowBytes / STEP_BYTES) * STEP_BYTES;
  if (bytes === rowBytes) code.get(input);
  else {
    // What follows the row in its column is not null.
    const copy = scratch.part("row", bytes);
    const base = code.locals.add("i32");
    code.getGlobal(SCRATCH_GLOBAL).i32(copy).op("i32.add").tee(base).get(input);
    code.i32(rowBytes).memoryCopy();
    for (let offset = rowBytes; offset < bytes; offset += VALUE_BYTES) {
      code.get(base).f64(Number.NaN).memory("f64.store", offset);
    }
    code.get(base);
  }
  // Rows of columns are whole cache lines, so the result may end at a whole step as well.
  code.get(output).i32(bytes).i32(node).call(statistic);
}
