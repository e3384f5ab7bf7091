import { Pauses } from "../steps.ts";
import { formatBytes, memoryShort } from "./memory_budget.ts";

/** A zeroed column in shared memory. @throws ResourceError E401 if the system refuses the memory. */
export function sharedColumn(length: number): Float64Array<SharedArrayBuffer> {
  return new Float64Array(sharedBytes(length * Float64Array.BYTES_PER_ELEMENT));
}

/** Large zeroed columns, in steps: the system takes long to clear their memory. @throws as `sharedColumn`. */
export async function sharedColumns(
  count: number,
  length: number,
): Promise<Float64Array<SharedArrayBuffer>[]> {
  const pauses = new Pauses();
  const columns: Float64Array<SharedArrayBuffer>[] = [];
  while (columns.length < count) {
    columns.push(sharedColumn(length));
    await pauses.afterStep();
  }
  return columns;
}

/** Codes of a group column. @throws ResourceError E401 if the system refuses the memory. */
export function sharedCodes(length: number): Int32Array<SharedArrayBuffer> {
  return new Int32Array(sharedBytes(length * Int32Array.BYTES_PER_ELEMENT));
}

function sharedBytes(bytes: number): SharedArrayBuffer {
  try {
    return new SharedArrayBuffer(bytes);
  } catch (cause) {
    const message = `the system refused ${formatBytes(bytes)} for a column`;
    throw memoryShort(message, "evaluate fewer rows, symbols or factors at once", cause);
  }
}
