import type { ResourceError } from "../../errors.ts";
import { Changes } from "./changes.ts";
import type { EngineMemory } from "./engine_memory.ts";
import { bytesHeld, bytesOf, formatBytes, type MemoryNeed, memoryShort, sum } from "./memory_need.ts";
import { type GarbageCollector, INTERVAL_MS, Relief } from "./relief.ts";
import { type MemoryThresholds, memoryShares } from "./thresholds.ts";

export interface BudgetOptions {
  readonly thresholds?: MemoryThresholds | undefined;
  /** Executor threads of the process. Default 0. */
  readonly threads?: number;
  /** The largest arena: what takes more is divided. Tests divide small programs. Default: what one memory holds. */
  readonly arenaBytesMax?: number | undefined;
}

/** A WebAssembly memory with 32-bit addresses is limited to this. */
export const ARENA_BYTES_MAX = 4 * 2 ** 30;

/** The process is read at this interval while any call waits, in ms. */
const INTERVAL_MS_WAITING = 50;

/** Calls that hold memory and neither run a block nor are busy for this long do not go on by themselves, in ms. */
const PATIENCE_MS = 10_000;

/** What is too small for a need: the limit for what is managed, or that for the process where the share `refuse` is set. */
type Shortage = "managed" | "process";

/**
 * The memory of an engine: what its evaluations reserve, and who waits for it. What they hold decides whether a call is
 * refused: the process holds garbage, code and what others allocated as well. It is read when memory is reserved and every
 * 200 ms while calls are open, to act at the shares of the limit that `MemoryThresholds` describes.
 */
export class MemoryBudget {
  readonly limitBytes: number;
  readonly arenaBytesMax: number;
  readonly #relief: Relief;
  #allocatedBytes = 0;
  /** What of it lasts. */
  #lastingBytes = 0;
  /** Reservations that do not last. */
  #endingCount = 0;
  /** Number of evaluations that hold each buffer. */
  readonly #holders = new Map<ArrayBufferLike, number>();
  /** Blocks under way, by the evaluation that runs them. */
  readonly #blocks = new Map<unknown, number>();
  readonly #refused = new WeakMap<Error, { readonly need: MemoryNeed; readonly shortage: Shortage }>();
  #waitingCount = 0;
  /** Calls that are being planned, that read their input or make their table. */
  #busyCount = 0;
  /** A call tries again; others wait meanwhile. */
  #isTrying = false;
  /** Results that wait to be read: in memory, on disk, and those that went to disk so far. */
  #keptBytes = 0;
  #spilledBytes = 0;
  #spilledBytesTotal = 0;
  readonly #changes = new Changes();
  #closed: Error | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** When a call was last busy, a block under way or memory given back. */
  #wentOnAt = 0;

  /** @throws UsageError E528 for thresholds that are no shares. */
  constructor(limitBytes: number, options: BudgetOptions = {}) {
    this.limitBytes = limitBytes;
    this.arenaBytesMax = options.arenaBytesMax ?? ARENA_BYTES_MAX;
    this.#relief = new Relief({
      limitBytes,
      shares: memoryShares(options.thresholds),
      threads: options.threads ?? 0,
      onChange: () => this.#changes.note(),
    });
  }

  /** Bytes used by open evaluations. */
  get usedBytes(): number {
    return this.#allocatedBytes + sum([...this.#holders.keys()].map(({ byteLength }) => byteLength));
  }

  /** What is used and what is kept. */
  get #occupiedBytes(): number {
    return this.usedBytes + this.#keptBytes;
  }

  get memory(): EngineMemory {
    const { process, isPaused } = this.#relief;
    return {
      ...process.account(this.#occupiedBytes),
      limitBytes: this.limitBytes,
      managedBytes: this.usedBytes,
      keptBytes: this.#keptBytes,
      spilledBytes: this.#spilledBytes,
      spilledBytesTotal: this.#spilledBytesTotal,
      waitingCount: this.#waitingCount,
      isPaused,
    };
  }

  /**
   * Attempts something that reserves memory. What is refused is attempted again as soon as it fits, as long as there are
   * calls that will end, or memory of the process that may come back.
   *
   * @throws ResourceError E401 that says why there will be no room; the signal's reason when aborted.
   */
  async admit<T>(attempt: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    let need: MemoryNeed | null = null;
    for (;;) {
      const hasTurn = need !== null;
      if (need) await this.#turn(need, signal);
      try {
        return await this.whileBusy(attempt);
      } catch (error) {
        const refused = this.#refused.get(error as Error);
        if (!refused) throw error;
        need = refused.need;
      } finally {
        if (hasTurn) this.#endTurn();
      }
    }
  }

  /** A call that works goes on: those that wait for its memory wait on, though it runs no block. */
  async whileBusy<T>(work: () => T | Promise<T>): Promise<T> {
    this.#busyCount++;
    try {
      return await work();
    } finally {
      this.#busyCount--;
      this.#wentOnAt = performance.now();
    }
  }

  /** @throws ResourceError E401 naming need and limit if the memory does not suffice. */
  expectRoom(need: MemoryNeed): void {
    const shortage = this.#shortage(need);
    if (shortage === null) return;
    const refusal = this.#refusal(need, shortage);
    this.#refused.set(refusal, { need, shortage });
    throw refusal;
  }

  /** Whether an error of `expectRoom` is about the process: memory of its other owners, or garbage, may come back. */
  isProcessFull(error: unknown): boolean {
    return this.#refused.get(error as Error)?.shortage === "process";
  }

  /**
   * Reserves the memory until the returned function is called.
   *
   * @throws as `expectRoom`.
   */
  reserve(need: MemoryNeed): () => void {
    const bytes = bytesOf(need);
    this.#relief.relieve(bytes);
    this.expectRoom(need);
    const held = new Set(need.held);
    this.#allocatedBytes += bytes;
    if (need.lasts) this.#lastingBytes += bytes;
    else this.#endingCount++;
    for (const buffer of held) this.#holders.set(buffer, (this.#holders.get(buffer) ?? 0) + 1);
    this.#schedule();
    let isReserved = true;
    return () => {
      if (!isReserved) return;
      isReserved = false;
      this.#allocatedBytes -= bytes;
      if (need.lasts) this.#lastingBytes -= bytes;
      else this.#endingCount--;
      for (const buffer of held) this.#release(buffer);
      this.#wentOnAt = performance.now();
      this.#relief.noteReleased(bytes);
      this.#changes.note();
    };
  }

  /** An arena was closed: it stays in the process until V8 collects garbage in all threads that had it. */
  noteClosed(bytes: number, threads: GarbageCollector): void {
    this.#relief.noteClosed(bytes, threads);
  }

  /**
   * Keeps further results in memory until `letGo`; false if they have to wait on disk: they would take what is managed above the
   * share `target`, or the process above the share `spill`.
   */
  keep(bytes: number): boolean {
    const roomBytes = Math.min(this.limitBytes, this.#relief.bytesAt("target")) - this.#occupiedBytes;
    if (bytes > roomBytes || this.#relief.isLargeWith(bytes)) return false;
    this.#keptBytes += bytes;
    return true;
  }

  letGo(bytes: number): void {
    this.#keptBytes -= bytes;
    this.#relief.noteReleased(bytes);
    this.#changes.note();
  }

  /** Results of these bytes went to disk; if negative, they are not there any more. */
  noteSpilled(bytes: number): void {
    this.#spilledBytes += bytes;
    this.#spilledBytesTotal += Math.max(0, bytes);
  }

  /**
   * Back-pressure: waits while too much is in use, as long as other calls go on. Call it before
   * each block, and `endBlock` after it.
   *
   * @param evaluation the one that runs the block
   * @throws the signal's reason when aborted.
   */
  async admitBlock(evaluation: unknown, signal?: AbortSignal): Promise<void> {
    this.#relief.relieveSometimes();
    while (!this.#mayBegin(evaluation)) await this.#changes.next(signal);
    this.#blocks.set(evaluation, (this.#blocks.get(evaluation) ?? 0) + 1);
  }

  endBlock(evaluation: unknown): void {
    const others = (this.#blocks.get(evaluation) as number) - 1;
    if (others > 0) this.#blocks.set(evaluation, others);
    else this.#blocks.delete(evaluation);
    this.#wentOnAt = performance.now();
    if (this.#relief.isPaused) this.#changes.note();
  }

  /** Ends all waiting with this error. */
  close(reason: Error): void {
    this.#closed = reason;
    this.#changes.note();
  }

  /** Takes the turn to try again as soon as the need fits; the calls that wait take turns in order. */
  async #turn(need: MemoryNeed, signal: AbortSignal | undefined): Promise<void> {
    const since = performance.now();
    this.#waitingCount++;
    try {
      for (;;) {
        if (this.#closed) throw this.#closed;
        const shortage = this.#shortage(need);
        if (shortage === null && !this.#isTrying) break;
        const end = shortage && this.#hopeless(need, shortage, since);
        if (end !== null) throw this.#refusal(need, shortage as Shortage, end);
        this.#relief.relieve(shortage === "process" ? bytesOf(need) : 0);
        this.#schedule();
        await this.#changes.next(signal);
      }
      this.#isTrying = true;
    } finally {
      this.#waitingCount--;
    }
  }

  #endTurn(): void {
    this.#isTrying = false;
    this.#changes.note();
  }

  /** Null if there may be room some time, else why not. */
  #hopeless(need: MemoryNeed, shortage: Shortage, since: number): string | null {
    if (this.#lastingBytes + bytesOf(need) + bytesHeld(need) > this.limitBytes) return "";
    if (this.#endingCount > 0 || this.#keptBytes > 0) {
      const isBusy = this.#blocks.size > 0 || this.#busyCount > 0;
      const isStuck = !isBusy && performance.now() - Math.max(this.#wentOnAt, since) > PATIENCE_MS;
      return isStuck ? `; the calls that use it have not gone on for ${PATIENCE_MS / 1000} s` : null;
    }
    return shortage === "managed" || this.#relief.isSettled(since) ? "" : null;
  }

  #shortage(need: MemoryNeed): Shortage | null {
    const added = need.held.filter((buffer) => !this.#holders.has(buffer));
    if (this.#occupiedBytes + bytesOf(need) + bytesHeld({ held: added }) > this.limitBytes) return "managed";
    const refusedAt = this.#relief.bytesAt("refuse");
    if (refusedAt === Number.POSITIVE_INFINITY) return null;
    const processBytes = this.#relief.read();
    // What is held is in the process already.
    return processBytes > refusedAt || processBytes + bytesOf(need) > this.limitBytes ? "process" : null;
  }

  #mayBegin(evaluation: unknown): boolean {
    return !this.#relief.isPaused || this.#blocks.size === 0 || this.#blocks.has(evaluation);
  }

  /** Reads the process again in a while, as long as calls are open or one waits. */
  #schedule(): void {
    const isWaiting = this.#waitingCount > 0;
    const isNeeded = isWaiting || this.#endingCount > 0;
    if (this.#timer && !isWaiting) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = isNeeded
      ? setTimeout(() => this.#look(), isWaiting ? INTERVAL_MS_WAITING : INTERVAL_MS)
      : null;
    // Only a call that waits keeps the process alive.
    if (!isWaiting) this.#timer?.unref();
  }

  #look(): void {
    this.#timer = null;
    this.#relief.relieve();
    this.#changes.note();
    this.#schedule();
  }

  #release(buffer: ArrayBufferLike): void {
    const holders = (this.#holders.get(buffer) as number) - 1;
    if (holders === 0) this.#holders.delete(buffer);
    else this.#holders.set(buffer, holders);
  }

  #refusal(need: MemoryNeed, shortage: Shortage, why = ""): ResourceError {
    const pieces = Object.entries({ ...need.bytes, panel: bytesHeld(need) }).filter(([, bytes]) => bytes > 0);
    const total = formatBytes(sum(pieces.map(([, bytes]) => bytes)));
    const shown = pieces.map(([what, bytes]) => `${what} ${formatBytes(bytes)}`).join(", ");
    const message = `the evaluation needs ${total} (${shown})`;
    if (shortage === "process")
      return memoryShort(`${message}, ${this.#processText()}${why}`, PROCESS_REMEDY);
    const occupied = this.#occupiedBytes;
    const used = occupied > 0 ? `, of which ${formatBytes(occupied)} are in use` : "";
    return memoryShort(`${message}, the limit is ${formatBytes(this.limitBytes)}${used}${why}`, need.remedy);
  }

  #processText(): string {
    const { processBytes, unmanagedBytes } = this.memory;
    const own = formatBytes(this.#relief.process.ownBytes);
    const sizes = `the limit is ${formatBytes(this.limitBytes)} and ${own} for the process itself`;
    return `${sizes}, which takes ${formatBytes(processBytes)}, ${formatBytes(unmanagedBytes)} of them unmanaged`;
  }
}

const PROCESS_REMEDY =
  "let go of other memory of the process (engine.memory), raise the memory limit, or set memoryThresholds.refuse";
