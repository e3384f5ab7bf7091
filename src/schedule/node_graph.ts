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
  }

  /** Index of a node's first consumer among all edges; its consumers end where the next node's start. */
  firstConsumer(node: number): number {
    return this.#starts[node]!;
  }

  /** The consumer at an edge index. */
  consumer(place: number): number {
    return this.#consumers[place]!;
  }
}
