import { collectGarbage } from "../../execution/watch/garbage.ts";
import { ProcessMemory } from "./process_memory.ts";
import type { MemoryShares } from "./thresholds.ts";

/** This thread and others. */
export interface GarbageCollector {
  collectGarbage(): void;
}

/** Whose memory it is. */
export interface ReliefOwner {
  readonly limitBytes: number;
  readonly shares: MemoryShares;
  /** Executor threads of the process. */
  readonly threads: number;
  /** Something was given back. */
  readonly onChange: () => void;
}

/** The process is read at this interval while calls are open, in ms. */
export const INTERVAL_MS = 200;

/** After its last release of memory the process has this long to shrink, in ms. */
const SETTLE_MS = 2000;

/** Collecting garbage stops every thread for 20 to 200 ms: not more often than that, in ms, unless it makes a call fit. */
const COLLECTION_MS = 1000;
/** As long as no call is short of room, this much of closed plans is worth it, or a process above `pause` after this time. */
const COLLECTED_BYTES_MIN = 64 * 2 ** 20;
const COLLECTION_MS_PAUSED = 5000;

/** Reads what the process takes, and makes it smaller: garbage is collected. */
export class Relief {
  readonly process: ProcessMemory;
  readonly #owner: ReliefOwner;
  #processBytes = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #isPaused = false;
  #releasedAt = Number.NEGATIVE_INFINITY;
  #collectedAt = Number.NEGATIVE_INFINITY;
  /** Bytes that were given back since garbage was collected. */
  #releasedBytes = 0;
  /** Those of closed plans, which V8 may still hold, in these threads as well. */
  #closedBytes = 0;
  readonly #collectors = new Set<GarbageCollector>();

  constructor(owner: ReliefOwner) {
    this.#owner = owner;
    this.process = new ProcessMemory(owner.threads);
  }

  /** Whether the process took more than the share `pause` when it was last relieved. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Infinite if the share is switched off. */
  bytesAt(name: keyof MemoryShares): number {
    const { shares, limitBytes } = this.#owner;
    return (shares[name] || Number.POSITIVE_INFINITY) * limitBytes;
  }

  /** What the process takes beyond its own. */
  read(): number {
    this.#readAt = performance.now();
    this.#processBytes = this.process.bytes;
    return this.#processBytes;
  }

  /** An arena was closed: it stays in the process until V8 collects garbage in all threads that had it. */
  noteClosed(bytes: number, threads: GarbageCollector): void {
    this.#closedBytes += bytes;
    this.#collectors.add(threads);
  }

  /** Memory was given back: the process may shrink. */
  noteReleased(bytes: number): void {
    this.#releasedBytes += bytes;
    this.#releasedAt = performance.now();
  }

  /** Whether the process will shrink no more after what was given back, to a call that has waited since then. */
  isSettled(since: number): boolean {
    return performance.now() - Math.max(this.#releasedAt, since) > SETTLE_MS;
  }

  /** Whether the process takes more than the share `spill` with further bytes, as it was read last. */
  isLargeWith(bytes: number): boolean {
    return this.#processBytes + bytes > this.bytesAt("spill");
  }

  /** Reads the process and makes it smaller, if it takes too much, also with what a call needs that begins or waits. */
  relieve(neededBytes = 0): void {
    const wasPaused = this.#isPaused;
    this.#isPaused = this.read() > this.bytesAt("pause");
    if (wasPaused && !this.#isPaused) this.#owner.onChange();
    const shortBytes = this.#shortBytes(neededBytes);
    if (shortBytes > 0) {
      const makesItFit = this.#releasedBytes >= Math.max(shortBytes, COLLECTED_BYTES_MIN);
      this.collect(makesItFit ? 0 : COLLECTION_MS);
    } else if (this.isLargeWith(0) && this.#closedBytes >= COLLECTED_BYTES_MIN) this.collect();
    else if (this.#isPaused) this.collect(COLLECTION_MS_PAUSED);
  }

  /** What the process takes too much for a call that needs these bytes; 0 without one, or if the process does not count. */
  #shortBytes(neededBytes: number): number {
    const refusedAt = this.bytesAt("refuse");
    const counts = Math.min(this.bytesAt("spill"), refusedAt) < Number.POSITIVE_INFINITY;
    if (!counts || neededBytes === 0) return 0;
    const aboveLimit = this.#processBytes + neededBytes - this.#owner.limitBytes;
    return Math.max(0, aboveLimit, this.#processBytes - refusedAt);
  }

  /** The same before a block, if it has not been done for a while: a thread that is busy between blocks runs no timer. */
  relieveSometimes(): void {
    if (this.#isStale) this.relieve();
  }

  get #isStale(): boolean {
    return performance.now() - this.#readAt >= INTERVAL_MS;
  }

  /** Collects garbage in all threads that had closed plans, unless that was done a moment ago. */
  collect(intervalMs = COLLECTION_MS): void {
    const now = performance.now();
    if (now - this.#collectedAt < intervalMs) return;
    this.#collectedAt = now;
    this.#releasedBytes = 0;
    this.#closedBytes = 0;
    if (this.#collectors.size === 0) collectGarbage();
    for (const threads of this.#collectors) threads.collectGarbage();
    this.#collectors.clear();
  }
}
