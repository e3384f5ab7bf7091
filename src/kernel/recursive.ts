import { InternalError } from "../errors.ts";
import type { RecursiveDefinition } from "../operator/definition.ts";
import type { PartJob, Values } from "./columns.ts";

/**
 * Runs a recursive operator over the lanes of one part: each lane from its first row to its last.
 *
 * @throws InternalError if the part does not hold whole lanes.
 */
export function runRecursive(operator: RecursiveDefinition, job: PartJob): void {
  const { rowStart, rowEnd, laneStart, laneEnd } = job.range;
  if (rowStart !== 0)
    throw new InternalError(`${operator.name} depends on all earlier rows and cannot be cut by rows`);
  const columns = job.operands.map(() => new Float64Array(rowEnd));
  const results = new Float64Array(rowEnd);
  for (let lane = laneStart; lane < laneEnd; lane++) {
    for (let k = 0; k < columns.length; k++) readLane(job.operands[k]!, lane, job.laneCount, columns[k]!);
    results.fill(Number.NaN);
    operator.reference(columns, job.settings, results);
    for (let row = 0; row < rowEnd; row++) {
      const value = results[row]!;
      job.output[row * job.laneCount + lane] = Number.isNaN(value) ? Number.NaN : value;
    }
  }
}

function readLane(operand: Values, lane: number, laneCount: number, target: Float64Array): void {
  if (typeof operand === "number") target.fill(operand);
  else for (let row = 0; row < target.length; row++) target[row] = operand[row * laneCount + lane]!;
}
