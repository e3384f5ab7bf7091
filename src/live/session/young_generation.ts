import { getHeapSpaceStatistics } from "node:v8";

/** Arrays of 64 KB: larger ones V8 keeps elsewhere. */
const ARRAY_LENGTH = 8_000;
const ARRAY_BYTES = 8 * ARRAY_LENGTH;

/** Arrays between two looks at the memory in use: 1 MB. */
const BATCH = 16;

/** Ends it where V8 was given more room than the 64 MiB that it takes by itself; those are used after some 110. */
const BYTES_MAX = 200 * 2 ** 20;

let isTouched = false;

/**
 * Uses all memory that V8 has for this thread's young objects, once: 0.1 s. V8 takes it page by page as objects are
 * made, and a process that makes 50 KB in each call would grow for hours. (Java machines have `AlwaysPreTouch` for it.)
 */
export function touchYoungGeneration(): void {
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

/** What of the young generation is in use at least once, and what V8 has set aside for it by now, in bytes. */
function youngGeneration(): { readonly touched: number; readonly size: number } {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")!;
  return { touched: space.physical_space_size, size: space.space_size };
}

/** Returned, lest V8 leaves it out. */
function makeGarbage(): readonly number[] {
  return new Array<number>(ARRAY_LENGTH).fill(0);
}
