import type { ScheduledNode } from "./events.ts";

/** The nodes of a plan and the edges between them in both directions; the same for all its runs. */
export class NodeGraph {
  readonly nodes: readonly ScheduledNode[];
  /** Nodes that read no other. */
  readonly sources: readonly number[];
  readonly inputCounts: Int32Array;
  readonly partCounts: Int32Array;
  /** The consumers of node `n` are `#consumers[#starts[n] ... #starts[n + 1] - 1]`. */
  readonly #starts: Int32Array;
  readonly #consumers: Int32Array;

  constructor(nodes: readonly ScheduledNode[]) {
    this.nodes = nodes;
    this.sources = nodes.flatMap(({ inputs }, id) => (inputs.length === 0 ? [id] : []));
    this.inputCounts = Int32Array.from(nodes, ({ inputs }) => inputs.length);
    this.partCounts = Int32Array.from(nodes, ({ partCount }) => partCount);
    this.#starts = new Int32Array(nodes.length + 1);
    for (const { inputs } of nodes) for (const input of inputs) this.#starts[input + 1]!++;
    for (let id = 0; id < nodes.length; id++) this.#starts[id + 1]! += this.#starts[id]!;
    this.#consumers = new Int32Array(this.#starts[nodes.length]!);
    const next = this.#starts.slice();
    nodes.forEach(({ inputs }, consumer) => {
      for (const input of inputs) this.#consumers[next[input]!++] = consumer;
    });
  }

  /** The nodes that read this node's columns. */
  consumersOf(node: number): Int32Array {
    return this.#consumers.subarray(this.#starts[node]!, this.#starts[node + 1]!);
  }
}
