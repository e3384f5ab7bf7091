import { getHeapSpaceStatistics } from "node:v8";

/** Arrays of 64 KB: V8 keeps larger ones in another space. */
const ARRAY_LENGTH = 8_000;
const ARRAY_BYTES = 8 * ARRAY_LENGTH;

/** Arrays between two readings of the memory in use: 1 MB. */
const BATCH = 16;

/** Limit for a V8 with a larger young generation; the usual 64 MiB are touched after some 110 MiB. */
const BYTES_MAX = 200 * 2 ** 20;

let isTouched = false;

/**
 * Touches all memory of this thread's young generation once, which takes 0.1 s. V8 maps it page by page as objects are
 * made: a process that makes 50 KB in each call would grow for hours. (The JVM has `AlwaysPreTouch` for it.)
 */
export function preTouchYoungGeneration(): void {
  if (isTouched) return;
  isTouched = true;
  let touched = youngGeneration().touched;
  let sinceGrowth = 0;
  for (let bytes = 0; bytes < BYTES_MAX; bytes += BATCH * ARRAY_BYTES) {
    for (let i = 0; i < BATCH; i++) makeGarbage();
    sinceGrowth += BATCH * ARRAY_BYTES;
    const now = youngGeneration();
    if (now.touched > touched) {
      touched = now.touched;
      sinceGrowth = 0;
    } else if (sinceGrowth > now.size) return;
  }
}

/** Bytes of the young generation that were touched, and its current size. */
function youngGeneration(): { readonly touched: number; readonly size: number } {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")!;
  return { touched: space.physical_space_size, size: space.space_size };
}

/** Returned, so that V8 does not optimise it away. */
function makeGarbage(): readonly number[] {
  return new Array<number>(ARRAY_LENGTH).fill(0);
}
