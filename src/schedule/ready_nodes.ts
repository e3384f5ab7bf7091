import { Heap } from "heap-js";

/** A ready node that has parts to hand out. */
export interface ReadyNode {
  readonly node: number;
  readonly weight: number;
  /** Columns that are given back when it completes. */
  readonly releaseCount: number;
  /** Completions seen by the call when it became ready. */
  readonly readyAt: number;
  /** Position in the call's memory order. */
  readonly position: number;
  /** True if it holds a column already, because a part of it was handed out. */
  readonly hasStarted: boolean;
}

/** Heaviest first; then what gives back more memory; then the most recently ready (depth first); then the lower id. */
function compareWeight(a: ReadyNode, b: ReadyNode): number {
  return b.weight - a.weight || b.releaseCount - a.releaseCount || b.readyAt - a.readyAt || a.node - b.node;
}

/** What needs no new column first; then in the order that keeps few columns alive. */
function compareMemory(a: ReadyNode, b: ReadyNode): number {
  return Number(b.hasStarted) - Number(a.hasStarted) || a.position - b.position;
}

/** The ready nodes of one call: a max-heap by weight and, where memory is scarce, one by memory order. */
export class ReadyNodes {
  readonly #byWeight = new Heap<ReadyNode>(compareWeight);
  readonly #byMemory: Heap<ReadyNode> | null;
  /** The entry in force per node. Heaps cannot take entries out, so replaced ones stay until they surface. */
  readonly #current = new Map<number, ReadyNode>();

  constructor(memoryIsScarce: boolean) {
    this.#byMemory = memoryIsScarce ? new Heap<ReadyNode>(compareMemory) : null;
  }

  get(node: number): ReadyNode | undefined {
    return this.#current.get(node);
  }

  /** Adds a node, or replaces what was known of it. */
  put(entry: ReadyNode): void {
    this.#current.set(entry.node, entry);
    this.#byWeight.add(entry);
    this.#byMemory?.add(entry);
  }

  remove(node: number): void {
    this.#current.delete(node);
  }

  /** The node whose turn it is by weight. */
  heaviest(): ReadyNode | null {
    return this.#top(this.#byWeight);
  }

  /** The node whose turn it is by memory order; only where memory is scarce. */
  thriftiest(): ReadyNode | null {
    return this.#byMemory && this.#top(this.#byMemory);
  }

  #top(heap: Heap<ReadyNode>): ReadyNode | null {
    for (let top = heap.peek(); top; top = heap.peek()) {
      if (this.#current.get(top.node) === top) return top;
      heap.pop();
    }
    return null;
  }
}
