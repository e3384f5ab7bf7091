import { formatBytes, memoryShort } from "./memory/memory_need.ts";

/** A zeroed column in shared memory. @throws ResourceError E401 if the system refuses the memory. */
export function sharedColumn(length: number): Float64Array<SharedArrayBuffer> {
  return new Float64Array(sharedBytes(length * Float64Array.BYTES_PER_ELEMENT));
}

/**
 * Large buffers are mapped by themselves: the system clears their pages when they are used, and has them back as soon as
 * they are freed.
 */
const BUFFER_BYTES = 256 * 2 ** 20;

/** Zeroed columns of equal length, several to a buffer. @throws as `sharedColumn`. */
export function sharedColumns(count: number, length: number): Float64Array<SharedArrayBuffer>[] {
  const atOnce = Math.max(1, Math.floor(BUFFER_BYTES / Math.max(1, length * Float64Array.BYTES_PER_ELEMENT)));
  const columns: Float64Array<SharedArrayBuffer>[] = [];
  while (columns.length < count) {
    const taken = Math.min(atOnce, count - columns.length);
    const all = sharedColumn(taken * length);
    for (let i = 0; i < taken; i++) columns.push(all.subarray(i * length, (i + 1) * length));
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
