export const LINE_BYTES = 64;

/** Bytes of the cache lines that so many bytes take. */
export function wholeLines(bytes: number): number {
  return LINE_BYTES * Math.ceil(bytes / LINE_BYTES);
}
