import type { CrossSectionDefinition } from "../operator/definition.ts";
import type { PartJob } from "./columns.ts";
import { RowKernel } from "./row_kernel.ts";

/**
 * Runs a cross-section operator over the rows of one part.
 *
 * The reference sees the lanes that have a value in every argument, in lane order; the other lanes become null.
 */
export function runCrossSection(operator: CrossSectionDefinition, job: PartJob): void {
  const kernel = new RowKernel(operator, job);
  const lanes = new Int32Array(job.laneCount);
  for (let row = job.range.rowStart; row < job.range.rowEnd; row++) {
    const base = row * job.laneCount;
    let count = 0;
    for (let lane = 0; lane < job.laneCount; lane++) {
      if (kernel.isValid(base + lane)) lanes[count++] = lane;
      else job.output[base + lane] = Number.NaN;
    }
    if (count > 0) kernel.run(base, lanes, 0, count);
  }
}
