import { collectGarbage } from "../../execution/watch/garbage.ts";
import type { KeptResults } from "./kept_results.ts";
import { sum } from "./memory_need.ts";
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
  /** Bytes used by open evaluations. */
  readonly usedBytes: () => number;
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

/** Reads what the process takes, and makes it smaller: kept results go to disk, and garbage is collected. */
export class Relief {
  readonly process: ProcessMemory;
  /** Results that wait to be read. */
  readonly kept = new Set<KeptResults>();
  readonly #owner: ReliefOwner;
  #processBytes = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #isPaused = false;
  #releasedAt = Number.NEGATIVE_INFINITY;
  #collectedAt = Number.NEGATIVE_INFINITY;
  /** Bytes that were given back since garbage was collected. */
  #releasedBytes = 0;
  /** Those of closed plans and of what went to disk, which V8 may still hold, in these threads as well. */
  #closedBytes = 0;
  readonly #collectors = new Set<GarbageCollector>();
  #isSpilling = false;

  constructor(owner: ReliefOwner) {
    this.#owner = owner;
    this.process = new ProcessMemory(owner.threads);
  }

  /** Whether the process took more than the share `pause` when it was last relieved. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Whether kept results are on their way to disk. */
  get isSpilling(): boolean {
    return this.#isSpilling;
  }

  /** Bytes of kept results in memory. */
  get keptBytes(): number {
    return sum([...this.kept].map(({ memoryBytes }) => memoryBytes));
  }

  /** What is used and what is kept. */
  get occupiedBytes(): number {
    return this.#owner.usedBytes() + this.keptBytes;
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

  /** The same, as read a moment ago. */
  readSometimes(): number {
    return this.#isStale ? this.read() : this.#processBytes;
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

  /** True if further results of these bytes can be kept in memory. */
  hasRoomFor(bytes: number): boolean {
    const isLarge = this.#processBytes + bytes > this.bytesAt("spill");
    return !isLarge && this.occupiedBytes + bytes <= this.bytesAt("target");
  }

  /** Reads the process and makes it smaller, if it takes too much, also with what a call needs that begins or waits. */
  relieve(neededBytes = 0): void {
    const wasPaused = this.#isPaused;
    this.#isPaused = this.read() > this.bytesAt("pause");
    if (wasPaused && !this.#isPaused) this.#owner.onChange();
    this.spill(neededBytes);
    const isLarge = this.#processBytes > this.bytesAt("spill");
    const shortBytes = this.#shortBytes(neededBytes);
    if (shortBytes > 0) {
      const makesItFit = this.#releasedBytes >= Math.max(shortBytes, COLLECTED_BYTES_MIN);
      this.collect(makesItFit ? 0 : COLLECTION_MS);
    } else if (isLarge && this.#closedBytes >= COLLECTED_BYTES_MIN) this.collect();
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
    else this.spill();
  }

  get #isStale(): boolean {
    return performance.now() - this.#readAt >= INTERVAL_MS;
  }

  /** Sends kept results to disk: as many as are too much, or needed. */
  spill(neededBytes = 0): void {
    if (this.#isSpilling || this.keptBytes === 0) return;
    const excessBytes = Math.max(
      this.#shortBytes(neededBytes),
      this.#processBytes - this.bytesAt("spill"),
      this.occupiedBytes - this.bytesAt("target"),
    );
    if (excessBytes > 0) void this.#spillSome(excessBytes);
  }

  async #spillSome(bytes: number): Promise<void> {
    this.#isSpilling = true;
    let spilled = 0;
    for (const results of this.kept) if (spilled < bytes) spilled += await results.spill(bytes - spilled);
    this.#isSpilling = false;
    // V8 gives it back when it collects garbage: the process has not shrunk yet.
    this.#processBytes -= spilled;
    this.#closedBytes += spilled;
    this.#owner.onChange();
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
