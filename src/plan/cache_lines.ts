export const LINE_BYTES = 64;

/** Rounds up to whole cache lines. */
export function wholeLines(bytes: number): number {
  return LINE_BYTES * Math.ceil(bytes / LINE_BYTES);
}
