import type { RollingDefinition, WindowRows } from "../operator/definition.ts";
import type { PartJob } from "./columns.ts";
import { PackedLane } from "./packed_lane.ts";

/** For references that do not ask for the rows of their window. */
const NO_ROWS: WindowRows = { positions: new Float64Array(0), last: 0 };

/**
 * Runs a rolling operator over the cells of one part, lane by lane.
 *
 * One rule covers every kind of window: rows that are left out (a null in any argument, unless the operator sees
 * nulls) are packed away, and a cell has a value if at least `rowsNeeded` rows of its window remain. Without
 * `min_periods` all `windowRows` rows are needed, so a null or a window that starts before the panel gives null.
 * A part that starts at a later row reads the rows before it as history, so cuts change no value.
 */
export function runRolling(operator: RollingDefinition, job: PartJob): void {
  const { rowStart, rowEnd, laneStart, laneEnd } = job.range;
  if (rowStart === rowEnd) return;
  const windowRows = operator.windowRows(job.settings);
  const keepsNulls = operator.seesNulls === true && job.minPeriods === null;
  const lane = new PackedLane(job.operands, job.laneCount, rowStart, rowEnd, windowRows);
  for (let index = laneStart; index < laneEnd; index++) {
    lane.load(index, keepsNulls);
    rollLane(operator, job, windowRows, lane, index);
  }
}

function rollLane(
  operator: RollingDefinition,
  job: PartJob,
  windowRows: number,
  lane: PackedLane,
  laneIndex: number,
): void {
  const { settings, output, laneCount } = job;
  const { rowStart, rowEnd } = job.range;
  const { reference } = operator;
  const { rows, keptCount } = lane;
  const wantsPositions = reference.length > 2;
  const rowsNeeded = job.minPeriods ?? windowRows;
  let start = 0;
  let end = 0;
  for (let row = rowStart; row < rowEnd; row++) {
    while (end < keptCount && rows[end]! <= row) end++;
    while (start < end && rows[start]! <= row - windowRows) start++;
    let value = Number.NaN;
    if (end - start >= rowsNeeded) {
      const where = wantsPositions
        ? lane.positions(start, end, Math.max(0, row - windowRows + 1), row)
        : NO_ROWS;
      value = reference(lane.window(start, end), settings, where);
    }
    output[row * laneCount + laneIndex] = Number.isNaN(value) ? Number.NaN : value;
  }
}
