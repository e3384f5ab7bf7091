import type { ScheduledNode } from "./events.ts";

/** The nodes of a plan and the edges between them in both directions; shared by all its runs. */
export class NodeGraph {
  readonly nodes: readonly ScheduledNode[];
  readonly inputCounts: Int32Array;
  readonly partCounts: Int32Array;
  /** Index of each node's first part among all parts, and their number at the end. */
  readonly firstParts: Int32Array;
  /** For each node the input that costs most; -1 if it has none. */
  readonly heaviestInputs: Int32Array;
  /** Users of each node's columns, which the next block waits for: itself, and its consumers unless it keeps rows. */
  readonly userCounts: Int32Array;
  /** The consumers of node `n` are `#consumers[#starts[n] ... #starts[n + 1] - 1]`. */
  readonly #starts: Int32Array;
  readonly #consumers: Int32Array;
  /** All nodes, inputs before consumers. */
  readonly #order: Int32Array;

  constructor(nodes: readonly ScheduledNode[]) {
    this.nodes = nodes;
    this.inputCounts = Int32Array.from(nodes, ({ inputs }) => inputs.length);
    this.partCounts = Int32Array.from(nodes, ({ partCount }) => partCount);
    this.firstParts = new Int32Array(nodes.length + 1);
    nodes.forEach(({ partCount }, id) => {
      this.firstParts[id + 1] = this.firstParts[id]! + partCount;
    });
    const heavier = (a: number, b: number) => (a < 0 || nodes[b]!.costNs > nodes[a]!.costNs ? b : a);
    this.heaviestInputs = Int32Array.from(nodes, ({ inputs }) => inputs.reduce(heavier, -1));
    this.#starts = new Int32Array(nodes.length + 1);
    for (const { inputs } of nodes) for (const input of inputs) this.#starts[input + 1]!++;
    this.userCounts = Int32Array.from(nodes, ({ keepsRows }, id) =>
      keepsRows ? 1 : this.#starts[id + 1]! + 1,
    );
    for (let id = 0; id < nodes.length; id++) this.#starts[id + 1]! += this.#starts[id]!;
    this.#consumers = new Int32Array(this.#starts[nodes.length]!);
    const next = this.#starts.slice();
    nodes.forEach(({ inputs }, consumer) => {
      for (const input of inputs) this.#consumers[next[input]!++] = consumer;
    });
    this.#order = this.#sort();
  }

  /** Index of a node's first consumer among all edges; its consumers end where the next node's start. */
  firstConsumer(node: number): number {
    return this.#starts[node]!;
  }

  /** The consumer at an edge index. */
  consumer(place: number): number {
    return this.#consumers[place]!;
  }

  /** For each node the largest sum of costs on any path to a sink, its own included. */
  criticalPaths(costs: Float64Array): Float64Array {
    const weights = costs.slice();
    for (let at = this.#order.length - 1; at >= 0; at--) {
      const node = this.#order[at]!;
      let longest = 0;
      for (let place = this.#starts[node]!; place < this.#starts[node + 1]!; place++)
        longest = Math.max(longest, weights[this.#consumers[place]!]!);
      weights[node]! += longest;
    }
    return weights;
  }

  /** Kahn's algorithm. */
  #sort(): Int32Array {
    const waits = this.inputCounts.slice();
    const order = new Int32Array(waits.length);
    let end = 0;
    for (let node = 0; node < waits.length; node++) if (waits[node] === 0) order[end++] = node;
    for (let at = 0; at < end; at++) {
      const node = order[at]!;
      for (let place = this.#starts[node]!; place < this.#starts[node + 1]!; place++) {
        const consumer = this.#consumers[place]!;
        if (--waits[consumer]! === 0) order[end++] = consumer;
      }
    }
    return order;
  }
}
