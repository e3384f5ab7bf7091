import type { BlockRun } from "./block_run.ts";

/** Most parts in a queue, however short they are; a power of two. */
export const QUEUE_SLOTS = 256;

const SLOT_MASK = QUEUE_SLOTS - 1;

/** Parts are handed out ahead while a queue holds fewer than this many parts. */
const AHEAD_PARTS_MAX = QUEUE_SLOTS / 2;

/** Tickets stay below 2^30: records carry them as Int32. */
const TICKETS_MAX = 2 ** 30;

/** Parts that an executor was given and has not returned, including the one that it runs. */
export class ExecutorQueue {
  readonly executor: number;
  /** Its index among all queues. */
  place = 0;
  /** Parts in it, and their estimated ns. */
  partCount = 0;
  queuedNs = 0;
  /** When a part was last returned, counted in returned parts of all executors. */
  lastReturn = 0;
  readonly runs: (BlockRun | null)[] = new Array<BlockRun | null>(QUEUE_SLOTS).fill(null);
  readonly nodes = new Int32Array(QUEUE_SLOTS);
  readonly parts = new Int32Array(QUEUE_SLOTS);
  readonly partNs = new Float64Array(QUEUE_SLOTS);
  /** Parts whose inputs are not complete, their estimated ns, and their slots. */
  aheadCount = 0;
  aheadNs = 0;
  readonly isAhead = new Uint8Array(QUEUE_SLOTS);
  /** Slots that were asked for in a steal, or whose part turned out to have begun: not asked for again. */
  readonly isAsked = new Uint8Array(QUEUE_SLOTS);
  readonly #tickets = Int32Array.from({ length: QUEUE_SLOTS }, (_, slot) => slot);
  readonly #free = Int32Array.from({ length: QUEUE_SLOTS }, (_, slot) => SLOT_MASK - slot);

  constructor(executor: number) {
    this.executor = executor;
  }

  /** The queue with the least value is filled next: idle queues, the last to become idle first, then by work. */
  get fill(): number {
    if (this.partCount === QUEUE_SLOTS) return Number.POSITIVE_INFINITY;
    // Each part counts as at least one ns.
    return this.runnableCount === 0 ? -1 - this.lastReturn : this.queuedNs + this.partCount;
  }

  /** Whether it may get parts that wait for their inputs. */
  get takesAhead(): boolean {
    return this.partCount < AHEAD_PARTS_MAX;
  }

  /** Parts whose inputs the scheduler knows to be complete. */
  get runnableCount(): number {
    return this.partCount - this.aheadCount;
  }

  get runnableNs(): number {
    return this.queuedNs - this.aheadNs;
  }

  /** Adds a part and returns its ticket. */
  put(run: BlockRun, node: number, part: number, ns: number, isAhead: boolean): number {
    const slot = this.#free[SLOT_MASK - this.partCount]!;
    this.partCount++;
    this.queuedNs += ns;
    this.runs[slot] = run;
    this.nodes[slot] = node;
    this.parts[slot] = part;
    this.partNs[slot] = ns;
    this.isAsked[slot] = 0;
    this.isAhead[slot] = isAhead ? 1 : 0;
    if (isAhead) {
      this.aheadCount++;
      this.aheadNs += ns;
    }
    return this.#tickets[slot]!;
  }

  /** The slot of a ticket; null if the part is not in the queue any more. */
  slotOf(ticket: number): number | null {
    const slot = ticket & SLOT_MASK;
    return this.runs[slot] && this.#tickets[slot] === ticket ? slot : null;
  }

  ticketOf(slot: number): number {
    return this.#tickets[slot]!;
  }

  /** The inputs of a part are complete. */
  release(slot: number): void {
    if (this.isAhead[slot] === 0) return;
    this.isAhead[slot] = 0;
    this.aheadCount--;
    this.aheadNs = this.aheadCount === 0 ? 0 : this.aheadNs - this.partNs[slot]!;
  }

  take(slot: number): void {
    this.release(slot);
    this.partCount--;
    this.queuedNs = this.partCount === 0 ? 0 : this.queuedNs - this.partNs[slot]!;
    this.runs[slot] = null;
    this.#tickets[slot] = (this.#tickets[slot]! + QUEUE_SLOTS) % TICKETS_MAX;
    this.#free[SLOT_MASK - this.partCount] = slot;
  }
}
