import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

let collect: (() => void) | null = null;

/**
 * Collects garbage of this thread, which takes it 20 to 200 ms: V8 frees the memory of a closed plan, which is outside of
 * its heap, only when it happens to collect the objects that stand for it, in every thread that had them.
 */
export function collectGarbage(): void {
  if (!collect) {
    // The flag holds for all threads, any of which may be about to read it: nobody takes it back.
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
}

/**
 * V8 keeps the memory of a thread that has ended for 8 s (`--memory-pool-timeout`), and gives it back when it next
 * collects garbage: 2 GiB of 200 threads. In ms, with a little time to do it.
 */
const THREAD_MEMORY_MS = 10_000;

let threadEndedAt = Number.NEGATIVE_INFINITY;

/** A thread of this process has ended. */
export function noteThreadEnded(): void {
  threadEndedAt = performance.now();
}

/** Whether V8 has given back the memory of all threads that have ended, if garbage was collected meanwhile. */
export function threadMemoryIsBack(): boolean {
  return performance.now() - threadEndedAt > THREAD_MEMORY_MS;
}
