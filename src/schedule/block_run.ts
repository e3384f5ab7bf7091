import { Heap } from "heap-js";
import type { CallOrder } from "./call_order.ts";
import type { ReleaseInstruction, RunInstruction, RunRequest } from "./events.ts";
import type { NodeGraph } from "./node_graph.ts";
import { order, type ReadyFacts, type ReadyOrder } from "./ready_order.ts";

/**
 * The run of an open plan over one block: which nodes wait for what, and which are ready. Objects are reused for later
 * blocks of the plan. A run costs O(nodes log nodes + edges).
 */
export class BlockRun implements ReadyFacts {
  readonly plan: number;
  /** Per node, its measured ns; 0 where it did not run. */
  readonly nodeNs: Float64Array;
  /** False if executors have passed over a part, or one has failed. */
  isWhole = true;
  readonly #graph: NodeGraph;
  /** Per node, what it waits for and is not complete: inputs, and the block before. */
  readonly #waits: Int32Array;
  /** Per node, parts that are not done. */
  readonly #partsLeft: Int32Array;
  /** Per node, the first part that was never handed out. */
  readonly #nextPart: Int32Array;
  /** Per node, its users (`NodeGraph.userCounts`) that are not complete: at 0 the next block may begin the node. */
  readonly #usersLeft: Int32Array;
  /** Per node, parts returned by lost or robbed executors. */
  readonly #returned = new Map<number, number[]>();
  /** Parts that were running on a lost executor, as `node:part`. */
  readonly #suspects = new Set<string>();
  /** Per node, inputs of which every part is handed out, and not complete. */
  readonly #queuedInputs: Int32Array;
  /** Nodes that have parts to hand out. */
  readonly #ready: Heap<number>;
  /**
   * Nodes that wait only for parts that are handed out. Some may meanwhile be handed out or ready, and some are listed
   * twice.
   */
  readonly #ahead: Heap<number>;
  /** Per part, the executor that got it last; and those that it was handed out to ahead, with its ticket there. */
  readonly #executors: Int32Array;
  readonly #aheadExecutors: Int32Array;
  readonly #aheadTickets: Int32Array;
  /** Per node, its first parts: those that were handed out ahead and are not released. */
  readonly #aheadCounts: Int32Array;
  /** Nodes with parts that were handed out ahead and are now ready. */
  readonly #released: number[] = [];
  readonly #isReady: Uint8Array;
  readonly #sequences: Int32Array;
  readonly #releases: Int32Array;
  #request: RunRequest | null = null;
  #weights: Float64Array;
  /** The run of the next block, if it has been submitted. */
  #next: BlockRun | null = null;
  #readyCount = 0;
  #incompleteCount = 0;

  constructor(plan: number, graph: NodeGraph, readyOrder: ReadyOrder) {
    const nodeCount = graph.nodes.length;
    this.plan = plan;
    this.nodeNs = new Float64Array(nodeCount);
    this.#graph = graph;
    this.#waits = new Int32Array(nodeCount);
    this.#partsLeft = new Int32Array(nodeCount);
    this.#nextPart = new Int32Array(nodeCount);
    this.#usersLeft = new Int32Array(nodeCount);
    this.#queuedInputs = new Int32Array(nodeCount);
    this.#executors = new Int32Array(graph.firstParts[nodeCount]!);
    this.#aheadExecutors = new Int32Array(graph.firstParts[nodeCount]!);
    this.#aheadTickets = new Int32Array(graph.firstParts[nodeCount]!);
    this.#aheadCounts = new Int32Array(nodeCount);
    this.#isReady = new Uint8Array(nodeCount);
    this.#sequences = new Int32Array(nodeCount);
    this.#releases = new Int32Array(nodeCount);
    this.#weights = new Float64Array(nodeCount);
    // Full ties go to the lower id, so that the same events give the same instructions.
    this.#ready = new Heap((a, b) => readyOrder(a, b, this) || a - b);
    this.#ahead = new Heap((a, b) => order(this.#weights[b]!, this.#weights[a]!) || a - b);
  }

  /** Begins a run. `previous` is the plan's run over the block before, if that has not ended. */
  start(request: RunRequest, weights: Float64Array, previous: BlockRun | null): void {
    const { isNeeded } = request;
    const graph = this.#graph;
    this.#request = request;
    this.#weights = weights;
    this.#waits.set(graph.inputCounts);
    this.#partsLeft.set(graph.partCounts);
    this.#usersLeft.set(graph.userCounts);
    this.#nextPart.fill(0);
    this.#queuedInputs.fill(0);
    this.#aheadCounts.fill(0);
    this.#isReady.fill(0);
    this.nodeNs.fill(0);
    this.#returned.clear();
    this.#suspects.clear();
    this.#ready.clear();
    this.#ahead.clear();
    this.#released.length = 0;
    this.#next = null;
    this.#readyCount = 0;
    this.#incompleteCount = graph.nodes.length;
    this.isWhole = true;
    if (isNeeded) this.#leaveOut(isNeeded);
    if (previous) this.#follow(previous);
    for (let node = 0; node < graph.nodes.length; node++) {
      if (this.#waits[node] !== 0) continue;
      if (isNeeded?.[node] === 0) this.#passOver(node);
      else this.#putReady(node);
    }
  }

  get block(): number {
    return this.#request!.block;
  }

  get order(): CallOrder {
    return this.#request!;
  }

  /** How many blocks' rows a node runs. */
  blocksRun(node: number): number {
    return this.#request!.blocksRun?.[node] ?? 1;
  }

  /** True if the run leaves some nodes out. */
  get isPartial(): boolean {
    return this.#request!.isNeeded !== null;
  }

  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  /** The node whose part is handed out next. */
  get nextNode(): number {
    return this.#ready.peek()!;
  }

  /** Nodes with parts to hand out. */
  get readyCount(): number {
    return this.#ready.length;
  }

  weightOf(node: number): number {
    return this.#weights[node]!;
  }

  releasesOf(node: number): number {
    return this.#releases[node]!;
  }

  sequenceOf(node: number): number {
    return this.#sequences[node]!;
  }

  /** Whether all its parts have come back. */
  get hasEnded(): boolean {
    return this.#incompleteCount === 0;
  }

  /** Hands out a part of `nextNode` to an executor. */
  handOut(executor: number): number {
    const node = this.nextNode;
    const returned = this.#returned.size > 0 ? this.#returned.get(node)?.pop() : undefined;
    const part = returned ?? this.#nextPart[node]!++;
    if (!this.#hasPartsToHandOut(node)) {
      this.#ready.pop();
      this.#isReady[node] = 0;
    }
    this.#executors[this.#graph.firstParts[node]! + part] = executor;
    if (returned === undefined) this.#noteHandedOut(node);
    return part;
  }

  /** The heaviest node that may be handed out ahead of its inputs; null if there is none. */
  get nextAhead(): number | null {
    for (let node = this.#ahead.peek(); node !== undefined; node = this.#ahead.peek()) {
      if (this.#waits[node]! > 0 && this.#nextPart[node]! < this.#graph.partCounts[node]!) return node;
      this.#ahead.pop();
    }
    return null;
  }

  /** The part of `nextAhead` that is handed out next. */
  nextPart(node: number): number {
    return this.#nextPart[node]!;
  }

  /** The executor that has, or had, such a part of the node's heaviest input, which it then reads from its own caches. */
  nearestExecutor(node: number, part: number): number | null {
    const { heaviestInputs, firstParts, partCounts } = this.#graph;
    const input = heaviestInputs[node]!;
    if (input < 0) return null;
    return this.#executors[firstParts[input]! + Math.min(part, partCounts[input]! - 1)]!;
  }

  /** Skips `nextAhead` until it is ready. */
  leaveOutAhead(): void {
    this.#ahead.pop();
  }

  handOutAhead({ executor, ticket, node, part }: RunInstruction): void {
    const place = this.#graph.firstParts[node]! + part;
    this.#executors[place] = executor;
    this.#aheadExecutors[place] = executor;
    this.#aheadTickets[place] = ticket;
    this.#nextPart[node]!++;
    this.#aheadCounts[node]!++;
    this.#noteHandedOut(node);
  }

  /** Releases a part that was handed out ahead and is now ready; null if no such part is left. */
  takeReleased(): ReleaseInstruction | null {
    const node = this.#released.at(-1);
    if (node === undefined) return null;
    const place = this.#graph.firstParts[node]! + --this.#aheadCounts[node]!;
    if (this.#aheadCounts[node] === 0) this.#released.pop();
    return { kind: "release", executor: this.#aheadExecutors[place]!, ticket: this.#aheadTickets[place]! };
  }

  /** A part is done, or executors have passed over it (null); the last one completes its node. */
  partDone(node: number, part: number, ns: number | null): void {
    if (ns === null) this.isWhole = false;
    else this.nodeNs[node]! += ns;
    if (this.#suspects.size > 0) this.#suspects.delete(`${node}:${part}`);
    // Step 4.5: a broken-down node counts its parts.
    if (--this.#partsLeft[node]! === 0) this.#complete(node);
  }

  /** A part has come back before it began: it is handed out again. */
  partReturned(node: number, part: number): void {
    const returned = this.#returned.get(node) ?? [];
    this.#returned.set(node, returned);
    returned.push(part);
    if (this.#waits[node] === 0 && !this.#isReady[node]) this.#putReady(node);
  }

  /** A part was lost with its executor, and is handed out again. True if it was running at the second loss in a row. */
  partLost(node: number, part: number, wasRunning: boolean): boolean {
    const key = `${node}:${part}`;
    const isSecond = wasRunning && this.#suspects.has(key);
    if (wasRunning) this.#suspects.add(key);
    this.partReturned(node, part);
    return isSecond;
  }

  /**
   * Nodes that are not needed read nothing and wait for no input. Those that run read nothing of them, or what an earlier
   * run of the block left.
   */
  #leaveOut(isNeeded: Uint8Array): void {
    for (let node = 0; node < isNeeded.length; node++) {
      const { inputs } = this.#graph.nodes[node]!;
      if (isNeeded[node]) {
        for (const input of inputs) if (!isNeeded[input]) this.#waits[node]!--;
      } else {
        this.#waits[node] = 0;
        this.#partsLeft[node] = 0;
        for (const input of inputs) if (!this.#graph.nodes[input]!.keepsRows) this.#usersLeft[input]!--;
      }
    }
  }

  /** The block before is done with a node that is left out: so is this one. */
  #passOver(node: number): void {
    this.#incompleteCount--;
    this.#noteUse(node);
  }

  /** Makes nodes wait for what the block before has not ended. */
  #follow(previous: BlockRun): void {
    previous.#next = this;
    for (let node = 0; node < this.#waits.length; node++) {
      if (previous.#usersLeft[node]! > 0) this.#waits[node]!++;
    }
  }

  #complete(node: number): void {
    this.#incompleteCount--;
    const graph = this.#graph;
    const isNeeded = this.#request!.isNeeded;
    for (let i = graph.firstConsumer(node); i < graph.firstConsumer(node + 1); i++) {
      const consumer = graph.consumer(i);
      if (!isNeeded) this.#queuedInputs[consumer]!--;
      // Step 5: the children wait for one input less. Steps 6 and 7: those that wait for none enter the heap.
      if (isNeeded?.[consumer] !== 0) this.#waitForLess(consumer);
    }
    this.#noteUse(node);
    for (const input of graph.nodes[node]!.inputs) if (!graph.nodes[input]!.keepsRows) this.#noteUse(input);
  }

  /** One user of the node's columns is done. */
  #noteUse(node: number): void {
    if (--this.#usersLeft[node]! === 0 && this.#next) this.#next.#waitForLess(node);
  }

  /** An input is complete, or the block before has ended the node and all its readers. */
  #waitForLess(node: number): void {
    if (--this.#waits[node]! > 0) this.#tryAhead(node);
    else if (this.#request!.isNeeded?.[node] === 0) this.#passOver(node);
    else {
      if (this.#aheadCounts[node]! > 0) this.#released.push(node);
      if (this.#hasPartsToHandOut(node)) this.#putReady(node);
    }
  }

  /** A part was handed out for the first time: where it is the node's last, others may follow the node ahead. */
  #noteHandedOut(node: number): void {
    const graph = this.#graph;
    if (this.#nextPart[node]! < graph.partCounts[node]! || this.isPartial) return;
    for (let i = graph.firstConsumer(node); i < graph.firstConsumer(node + 1); i++) {
      const consumer = graph.consumer(i);
      this.#queuedInputs[consumer]!++;
      this.#tryAhead(consumer);
    }
  }

  #tryAhead(node: number): void {
    const isAhead = this.#queuedInputs[node] === this.#waits[node];
    if (isAhead && this.#nextPart[node] === 0) this.#ahead.add(node);
  }

  #putReady(node: number): void {
    this.#isReady[node] = 1;
    this.#sequences[node] = this.#readyCount++;
    let releases = 0;
    for (const input of this.#graph.nodes[node]!.inputs) if (this.#usersLeft[input] === 1) releases++;
    this.#releases[node] = releases;
    this.#ready.add(node);
  }

  #hasPartsToHandOut(node: number): boolean {
    if (this.#nextPart[node]! < this.#graph.partCounts[node]!) return true;
    if (this.#returned.size === 0) return false;
    return (this.#returned.get(node)?.length ?? 0) > 0;
  }
}
