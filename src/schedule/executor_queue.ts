import type { BlockRun } from "./block_run.ts";

/** Parts that a queue holds at most, however short they are; a power of two. */
export const QUEUE_SLOTS = 256;

const SLOT_MASK = QUEUE_SLOTS - 1;

/** Tickets stay below 2^30: they travel as Int32. */
const TICKETS_MAX = 2 ** 30;

/** What one executor has been given and has not returned, the part that it runs included. */
export class ExecutorQueue {
  readonly executor: number;
  /** Its index among the queues of all executors. */
  place = 0;
  /** Parts in it, and their estimated ns. */
  partCount = 0;
  queuedNs = 0;
  /** When it was last given back a part, by a count of all parts given back. */
  lastReturn = 0;
  readonly runs: (BlockRun | null)[] = new Array<BlockRun | null>(QUEUE_SLOTS).fill(null);
  readonly nodes = new Int32Array(QUEUE_SLOTS);
  readonly parts = new Int32Array(QUEUE_SLOTS);
  readonly partNs = new Float64Array(QUEUE_SLOTS);
  /** Parts whose inputs are not complete, their estimated ns, and in which slots they are. */
  aheadCount = 0;
  aheadNs = 0;
  readonly isAhead = new Uint8Array(QUEUE_SLOTS);
  /** True if parts of a run that ended early were taken back since the executor last ran one: it may not have come to them. */
  hasStaleRecords = false;
  /** Slots that a steal has been asked for, or found begun: not asked for again. */
  readonly isAsked = new Uint8Array(QUEUE_SLOTS);
  readonly #tickets = Int32Array.from({ length: QUEUE_SLOTS }, (_, slot) => slot);
  readonly #free = Int32Array.from({ length: QUEUE_SLOTS }, (_, slot) => SLOT_MASK - slot);

  constructor(executor: number) {
    this.executor = executor;
  }

  get isFull(): boolean {
    return this.partCount === QUEUE_SLOTS;
  }

  /** Parts that wait for nothing, by what the scheduler knows. */
  get runnableCount(): number {
    return this.partCount - this.aheadCount;
  }

  get runnableNs(): number {
    return this.queuedNs - this.aheadNs;
  }

  /** Puts a part in and returns its ticket. */
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

  /** The ticket of the part in a slot. */
  ticketOf(slot: number): number {
    return this.#tickets[slot]!;
  }

  /** What a part reads is complete. */
  release(slot: number): void {
    if (this.isAhead[slot] === 0) return;
    this.isAhead[slot] = 0;
    this.aheadCount--;
    this.aheadNs = this.aheadCount === 0 ? 0 : this.aheadNs - this.partNs[slot]!;
  }

  /** Takes a part out. */
  take(slot: number): void {
    this.release(slot);
    this.partCount--;
    this.queuedNs = this.partCount === 0 ? 0 : this.queuedNs - this.partNs[slot]!;
    this.runs[slot] = null;
    this.#tickets[slot] = (this.#tickets[slot]! + QUEUE_SLOTS) % TICKETS_MAX;
    this.#free[SLOT_MASK - this.partCount] = slot;
  }
}
