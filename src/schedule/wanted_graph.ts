import type { ScheduledNode } from "./events.ts";

/** The nodes that a call wants, and the edges between them in both directions. */
export class WantedGraph {
  readonly nodes: readonly ScheduledNode[];
  readonly wantedCount: number;
  /** Parts of all wanted nodes. */
  readonly partCount: number;
  readonly #wanted: Uint8Array;
  /** The consumers of node `n` are `#consumers[#starts[n] ... #starts[n + 1] - 1]`. */
  readonly #starts: Int32Array;
  readonly #consumers: Int32Array;

  constructor(nodes: readonly ScheduledNode[], wanted: Uint8Array) {
    this.nodes = nodes;
    this.#wanted = wanted;
    this.#starts = new Int32Array(nodes.length + 1);
    let wantedCount = 0;
    let partCount = 0;
    this.#forEachEdge((input) => this.#starts[input + 1]!++);
    for (let id = 0; id < nodes.length; id++) {
      this.#starts[id + 1]! += this.#starts[id]!;
      if (this.isWanted(id)) {
        wantedCount++;
        partCount += nodes[id]!.partCount;
      }
    }
    this.wantedCount = wantedCount;
    this.partCount = partCount;
    this.#consumers = new Int32Array(this.#starts[nodes.length]!);
    const next = this.#starts.slice();
    this.#forEachEdge((input, consumer) => {
      this.#consumers[next[input]!++] = consumer;
    });
  }

  isWanted(node: number): boolean {
    return this.#wanted[node] === 1;
  }

  inputsOf(node: number): readonly number[] {
    return this.nodes[node]!.inputs;
  }

  /** The wanted nodes that read this node's column. */
  consumersOf(node: number): Int32Array {
    return this.#consumers.subarray(this.#starts[node]!, this.#starts[node + 1]!);
  }

  consumerCount(node: number): number {
    return this.#starts[node + 1]! - this.#starts[node]!;
  }

  #forEachEdge(visit: (input: number, consumer: number) => void): void {
    for (let id = 0; id < this.nodes.length; id++) {
      if (!this.isWanted(id)) continue;
      for (const input of this.nodes[id]!.inputs) visit(input, id);
    }
  }
}
