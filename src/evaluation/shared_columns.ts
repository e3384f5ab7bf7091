import { formatBytes, memoryShort } from "./memory_budget.ts";

/** A zeroed column in shared memory. @throws ResourceError E401 if the system refuses the memory. */
export function sharedColumn(length: number): Float64Array<SharedArrayBuffer> {
  return new Float64Array(sharedBytes(length * Float64Array.BYTES_PER_ELEMENT));
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
