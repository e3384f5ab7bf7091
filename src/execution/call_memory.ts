import { InternalError, ResourceError } from "../errors.ts";
import type { Plan } from "../plan/plan.ts";
import { slotsNeeded } from "../schedule/memory_order.ts";

/** The memory of one call: an arena of column slots, and the table that says which node's column is where. */
export interface CallMemory {
  readonly slotCount: number;
  /** `slotCount` columns `[rows x lanes]`, zeroed by the system on first touch: slots never used cost nothing. */
  readonly arena: SharedArrayBuffer;
  readonly slotOfNode: Int32Array<SharedArrayBuffer>;
  /** Measured ns of each node, summed over its parts. */
  readonly nodeNs: Float64Array<SharedArrayBuffer>;
}

/**
 * Reserves the memory of a call: a slot for every wanted node, or as many as `arenaBytesMax` allows.
 *
 * @throws ResourceError E401 if the call cannot finish within that, or the system refuses the memory.
 */
export function reserveMemory(plan: Plan, wanted: Uint8Array, arenaBytesMax: number): CallMemory {
  const slotBytes = plan.rowCount * plan.laneCount * Float64Array.BYTES_PER_ELEMENT;
  const wantedCount = wanted.reduce((sum, isWanted) => sum + isWanted, 0);
  const slotCount = Math.min(wantedCount, Math.floor(arenaBytesMax / Math.max(1, slotBytes)));
  if (slotCount < wantedCount) {
    const needed = slotsNeeded(plan.nodes, wanted);
    if (needed > slotCount) throw doesNotFit(plan, needed, needed * slotBytes, arenaBytesMax);
  }
  const { length } = plan.nodes;
  return {
    slotCount,
    arena: allocate(slotCount * slotBytes, arenaBytesMax),
    slotOfNode: new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT)).fill(-1),
    nodeNs: new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT)),
  };
}

/** The column `[rows x lanes]` in a slot of an arena. */
export function slotColumn(
  arena: SharedArrayBuffer,
  slot: number,
  cellCount: number,
): Float64Array<SharedArrayBuffer> {
  if (slot < 0) throw new InternalError("a node has no column");
  return new Float64Array(arena, slot * cellCount * Float64Array.BYTES_PER_ELEMENT, cellCount);
}

function allocate(bytes: number, bytesMax: number): SharedArrayBuffer {
  try {
    return new SharedArrayBuffer(bytes);
  } catch (cause) {
    throw new ResourceError(
      "E401",
      `the system refused ${inMebibytes(bytes)} for intermediate columns (limit ${inMebibytes(bytesMax)})`,
      "lower the memory limit, or evaluate fewer rows, symbols or factors at once",
      { cause },
    );
  }
}

function doesNotFit(plan: Plan, columns: number, bytes: number, bytesMax: number): ResourceError {
  return new ResourceError(
    "E401",
    `the evaluation needs ${inMebibytes(bytes)} (${columns} columns of ${plan.rowCount} rows x ` +
      `${plan.laneCount} lanes), the limit is ${inMebibytes(bytesMax)}`,
    "raise the memory limit, or evaluate fewer rows, symbols or factors at once",
  );
}

function inMebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
