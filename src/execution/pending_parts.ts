import { QUEUE_SLOTS } from "../schedule/executor_queue.ts";
import { RUN_WORD, RUN_WORDS } from "./protocol.ts";
import type { RecordRing } from "./shared/rings.ts";

const SLOT_MASK = QUEUE_SLOTS - 1;

/**
 * Parts that an executor has taken from its ring and not run yet, the most urgent first. Allocates nothing per part:
 * garbage collection would delay the executor, and V8's helper threads would take cores from others.
 */
export class PendingParts {
  readonly #ring: RecordRing;
  readonly #batch: Int32Array;
  /** The record of each slot of the queue. */
  readonly #records = new Int32Array(QUEUE_SLOTS * RUN_WORDS);
  readonly #weights = new Float32Array(this.#records.buffer);
  /** Slots, the most urgent last. */
  readonly #slots: number[] = [];
  /** 1 for slots that are listed. */
  readonly #isListed = new Uint8Array(QUEUE_SLOTS);

  constructor(ring: RecordRing) {
    this.#ring = ring;
    this.#batch = new Int32Array(ring.capacity * RUN_WORDS);
  }

  get count(): number {
    return this.#slots.length;
  }

  /** Takes all queued records in one bulk dequeue. */
  drain(): void {
    const count = this.#ring.drain(this.#batch);
    for (let record = 0; record < count; record++) {
      const start = record * RUN_WORDS;
      const slot = this.#batch[start]! & SLOT_MASK;
      // Its part was stolen and the slot refilled: the new part has a place of its own.
      if (this.#isListed[slot]) this.#slots.splice(this.#slots.indexOf(slot), 1);
      for (let word = 0; word < RUN_WORDS; word++)
        this.#records[slot * RUN_WORDS + word] = this.#batch[start + word]!;
      this.#insert(slot);
    }
  }

  /**
   * Takes out the most urgent part that may run: returns the position of its record in `words`, or -1 if there is none.
   *
   * @param isOpen for the record of a part that was handed out ahead: true if it may run or was taken back
   */
  takeFirst(isOpen: (record: number) => boolean): number {
    const slots = this.#slots;
    const place = slots.findLastIndex((slot) => this.#mayRun(slot, isOpen));
    if (place < 0) return -1;
    const slot = slots[place]!;
    for (let k = place + 1; k < slots.length; k++) slots[k - 1] = slots[k]!;
    slots.pop();
    this.#isListed[slot] = 0;
    return slot * RUN_WORDS;
  }

  /** The priority of the most urgent part that may run; null if there is none. */
  firstPriority(isOpen: (record: number) => boolean): number | null {
    const slot = this.#slots.findLast((one) => this.#mayRun(one, isOpen));
    return slot === undefined ? null : this.#records[slot * RUN_WORDS + RUN_WORD.priority]!;
  }

  /** The record of the most urgent part; -1 if there is none. */
  get first(): number {
    const slot = this.#slots.at(-1);
    return slot === undefined ? -1 : slot * RUN_WORDS;
  }

  /** True if a part may run. */
  has(isOpen: (record: number) => boolean): boolean {
    return this.#slots.some((slot) => this.#mayRun(slot, isOpen));
  }

  get words(): Int32Array {
    return this.#records;
  }

  #mayRun(slot: number, isOpen: (record: number) => boolean): boolean {
    const record = slot * RUN_WORDS;
    return this.#records[record + RUN_WORD.isAhead] === 0 || isOpen(record);
  }

  #insert(slot: number): void {
    const slots = this.#slots;
    this.#isListed[slot] = 1;
    let low = 0;
    let high = slots.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#isBefore(slots[middle]!, slot)) high = middle;
      else low = middle + 1;
    }
    slots.push(slot);
    for (let k = slots.length - 1; k > low; k--) slots[k] = slots[k - 1]!;
    slots[low] = slot;
  }

  /** True if the part of slot `a` goes before the later one of `b`: by priority, by call, then by weight. */
  #isBefore(a: number, b: number): boolean {
    const [records, weights] = [this.#records, this.#weights];
    const [aStart, bStart] = [a * RUN_WORDS, b * RUN_WORDS];
    const priorities = records[aStart + RUN_WORD.priority]! - records[bStart + RUN_WORD.priority]!;
    if (priorities !== 0) return priorities > 0;
    const calls = (records[aStart + RUN_WORD.call]! - records[bStart + RUN_WORD.call]!) | 0;
    if (calls !== 0) return calls < 0;
    return weights[aStart + RUN_WORD.weight]! >= weights[bStart + RUN_WORD.weight]!;
  }
}
