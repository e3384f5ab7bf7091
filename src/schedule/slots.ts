import { Heap } from "heap-js";
import type { MemoryOrder } from "./memory_order.ts";

/** The column slots of one call: which node holds which. The lowest free one is handed out, so that memory is reused. */
export class Slots {
  readonly #slotOf: Int32Array;
  readonly #freed = new Heap<number>((a, b) => a - b);
  #neverUsed = 0;

  constructor(nodeCount: number) {
    this.#slotOf = new Int32Array(nodeCount).fill(-1);
  }

  /** The slot that holds the node's column, -1 if none does. */
  of(node: number): number {
    return this.#slotOf[node]!;
  }

  take(node: number): number {
    const slot = this.#freed.pop() ?? this.#neverUsed++;
    this.#slotOf[node] = slot;
    return slot;
  }

  release(node: number): void {
    this.#freed.add(this.#slotOf[node]!);
    this.#slotOf[node] = -1;
  }
}

/**
 * Decides which nodes may take a column when there are fewer slots than nodes, such that the call always finishes.
 *
 * The cursor is the first node of the memory order that is not complete. What stands before it holds at most the
 * columns that the memory order itself would hold there; nodes that run ahead of it may hold as many as are spare
 * (`slotCount - slotsNeeded`), so a slot is always left for the node at the cursor.
 */
export class SlotGuard {
  readonly #slots: Slots;
  readonly #order: Int32Array;
  readonly #positionOf: Int32Array;
  readonly #isComplete: Uint8Array;
  readonly #spareCount: number;
  #cursor = 0;
  #aheadCount = 0;

  constructor(memory: MemoryOrder, slots: Slots, nodeCount: number, slotCount: number) {
    this.#slots = slots;
    this.#order = memory.order;
    this.#spareCount = slotCount - memory.slotsNeeded;
    this.#isComplete = new Uint8Array(nodeCount);
    this.#positionOf = new Int32Array(nodeCount);
    for (let position = 0; position < memory.order.length; position++) {
      this.#positionOf[memory.order[position]!] = position;
    }
  }

  positionOf(node: number): number {
    return this.#positionOf[node]!;
  }

  /** True while the spare slots are less than half used, so that nodes may be chosen by weight alone. */
  get hasPlenty(): boolean {
    return this.#aheadCount < this.#spareCount / 2;
  }

  mayTake(node: number): boolean {
    return this.#aheadCount < this.#spareCount || this.positionOf(node) <= this.#cursor;
  }

  noteTaken(node: number): void {
    if (this.positionOf(node) > this.#cursor) this.#aheadCount++;
  }

  /** To be called before the slot is given back. */
  noteReleased(node: number): void {
    if (this.positionOf(node) > this.#cursor) this.#aheadCount--;
  }

  noteComplete(node: number): void {
    this.#isComplete[node] = 1;
    while (this.#isComplete[this.#order[this.#cursor]!]) {
      this.#cursor++;
      const arrived = this.#order[this.#cursor];
      if (arrived !== undefined && this.#slots.of(arrived) >= 0) this.#aheadCount--;
    }
  }
}
