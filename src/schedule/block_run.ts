import { Heap } from "heap-js";
import type { FailureReason, ReleaseInstruction, RunEnd, RunInstruction, RunRequest } from "./events.ts";
import type { NodeGraph } from "./node_graph.ts";
import { order, type ReadyFacts, type ReadyOrder } from "./ready_order.ts";

/**
 * The run of an open plan over one block: which nodes wait for what, and which are ready. Objects are reused for later
 * blocks of the plan. A run costs O(nodes log nodes + edges).
 */
export class BlockRun implements ReadyFacts {
  readonly plan: number;
  /** Measured ns of each node in this run. */
  readonly nodeNs: Float64Array;
  readonly #graph: NodeGraph;
  /** What is not complete of what the node waits for: its inputs, and the block before. */
  readonly #waits: Int32Array;
  /** Parts that are not done, per node. */
  readonly #partsLeft: Int32Array;
  /** The first part that was never handed out, per node. */
  readonly #nextPart: Int32Array;
  /** Readers of the node that are not complete, and itself: the next block may begin it when there are none. */
  readonly #usersLeft: Int32Array;
  /** Parts that came back from lost or robbed executors, per node. */
  readonly #returned = new Map<number, number[]>();
  /** Parts that have been running on a lost executor, as `node:part`. */
  readonly #suspects = new Set<string>();
  /** Inputs of the node that are not complete, but handed out: nodes of one part each. */
  readonly #queuedInputs: Int32Array;
  /** Nodes that have parts to hand out. */
  readonly #ready: Heap<number>;
  /** Nodes that wait for nothing but what is handed out; some are handed out or ready by now, and some stand there twice. */
  readonly #ahead: Heap<number>;
  /** Who was given the node ahead, and under which ticket. */
  readonly #aheadExecutors: Int32Array;
  readonly #aheadTickets: Int32Array;
  /** Nodes that were handed out ahead and have become ready. */
  readonly #released: number[] = [];
  readonly #isReady: Uint8Array;
  readonly #sequences: Int32Array;
  readonly #releases: Int32Array;
  #request: RunRequest | null = null;
  #weights: Float64Array;
  /** The run of the next block, if it has been submitted. */
  #next: BlockRun | null = null;
  #readyCount = 0;
  #outstandingCount = 0;
  #incompleteCount = 0;
  #end: RunEnd | null = null;

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
    this.#aheadExecutors = new Int32Array(nodeCount);
    this.#aheadTickets = new Int32Array(nodeCount);
    this.#isReady = new Uint8Array(nodeCount);
    this.#sequences = new Int32Array(nodeCount);
    this.#releases = new Int32Array(nodeCount);
    this.#weights = new Float64Array(nodeCount);
    // Equal in every respect: the lower id, so that the same events give the same instructions.
    this.#ready = new Heap((a, b) => readyOrder(a, b, this) || a - b);
    this.#ahead = new Heap((a, b) => order(this.#weights[b]!, this.#weights[a]!) || a - b);
  }

  /**
   * Begins a run. `previous` is the plan's run over the block before if that has not ended; if it is to end early, the
   * caller could not know, and this one is cancelled.
   */
  start(request: RunRequest, weights: Float64Array, previous: BlockRun | null): void {
    const { isNeeded } = request;
    if (previous && !previous.isEnding && (isNeeded || previous.isPartial))
      throw new Error(`plan ${this.plan}: a run of some nodes cannot overlap`);
    const graph = this.#graph;
    this.#request = request;
    this.#weights = weights;
    this.#waits.set(graph.inputCounts);
    this.#partsLeft.set(graph.partCounts);
    this.#usersLeft.set(graph.userCounts);
    this.#nextPart.fill(0);
    this.#queuedInputs.fill(0);
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
    this.#end = null;
    if (isNeeded) this.#leaveOut(isNeeded);
    if (previous?.isEnding) this.cancel();
    else if (previous) this.#follow(previous);
    for (let node = 0; node < graph.nodes.length; node++) {
      if (this.#waits[node] === 0 && isNeeded?.[node] !== 0) this.#putReady(node);
    }
  }

  get block(): number {
    return this.#request!.block;
  }

  get call(): number {
    return this.#request!.call;
  }

  /** True if only some of the nodes are run. */
  get isPartial(): boolean {
    return this.#request!.isNeeded !== null;
  }

  /** True if the run hands out no more parts: it was cancelled or has failed. */
  get isEnding(): boolean {
    return this.#end !== null;
  }

  /** True if there is a part to be handed out. */
  get hasReady(): boolean {
    return this.#end === null && this.#ready.length > 0;
  }

  /** The node whose part is handed out next. */
  get nextNode(): number {
    return this.#ready.peek()!;
  }

  /** Nodes with parts to be handed out. */
  get readyCount(): number {
    return this.isEnding ? 0 : this.#ready.length;
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

  /** How the run ended, once no part of it is queued or running any more. */
  end(): RunEnd | null {
    if (this.#outstandingCount > 0) return null;
    if (this.#end) return this.#end;
    return this.#incompleteCount === 0 ? { kind: "finished", plan: this.plan, block: this.block } : null;
  }

  cancel(): void {
    this.#end ??= { kind: "cancelled", plan: this.plan, block: this.block };
    // Without this block the later ones would wait for ever.
    this.#next?.cancel();
  }

  /** Hands out a part of `nextNode`. */
  handOut(): number {
    const node = this.nextNode;
    const returned = this.#returned.size > 0 ? this.#returned.get(node)?.pop() : undefined;
    const part = returned ?? this.#nextPart[node]!++;
    if (!this.#hasPartsToHandOut(node)) {
      this.#ready.pop();
      this.#isReady[node] = 0;
    }
    this.#outstandingCount++;
    if (returned === undefined) this.#noteQueued(node);
    return part;
  }

  /** The heaviest node that may be handed out ahead of its inputs; null if there is none. */
  get nextAhead(): number | null {
    if (this.#end !== null) return null;
    for (let node = this.#ahead.peek(); node !== undefined; node = this.#ahead.peek()) {
      if (this.#waits[node]! > 0 && this.#nextPart[node] === 0) return node;
      this.#ahead.pop();
    }
    return null;
  }

  /** `nextAhead` is not to be handed out before it is ready. */
  leaveOutAhead(): void {
    this.#ahead.pop();
  }

  /** The only part of `nextAhead` was handed out. */
  handOutAhead({ executor, ticket }: RunInstruction): void {
    const node = this.#ahead.pop()!;
    this.#aheadExecutors[node] = executor;
    this.#aheadTickets[node] = ticket;
    this.#nextPart[node] = 1;
    this.#outstandingCount++;
    this.#noteQueued(node);
  }

  /** A part that was handed out ahead and has become ready; null if there is none left to tell of. */
  takeReleased(): ReleaseInstruction | null {
    const node = this.#released.pop();
    if (node === undefined) return null;
    return { kind: "release", executor: this.#aheadExecutors[node]!, ticket: this.#aheadTickets[node]! };
  }

  /** A part is done; the node completes with its last one. */
  partDone(node: number, part: number, ns: number): void {
    this.#outstandingCount--;
    this.nodeNs[node]! += ns;
    if (this.#suspects.size > 0) this.#suspects.delete(`${node}:${part}`);
    // Step 4.5: a broken-down node counts its parts.
    if (--this.#partsLeft[node]! === 0 && this.#end === null) this.#complete(node);
  }

  /** The kernel of a part threw. */
  partFailed(node: number): void {
    this.#outstandingCount--;
    this.#fail(node, "kernel");
  }

  /** A part was taken back before it was begun: it is handed out again. */
  partTakenBack(node: number, part: number): void {
    this.#outstandingCount--;
    if (!this.isEnding) this.#return(node, part);
  }

  /** A part was lost with its executor; it is handed out again unless it was running at the second loss in a row. */
  partLost(node: number, part: number, wasRunning: boolean): void {
    this.#outstandingCount--;
    if (this.isEnding) return;
    const key = `${node}:${part}`;
    if (wasRunning && this.#suspects.has(key)) {
      this.#fail(node, "executor");
      return;
    }
    if (wasRunning) this.#suspects.add(key);
    this.#return(node, part);
  }

  /** What is not needed counts as complete: what is run reads nothing of it, or what an earlier run of the block left. */
  #leaveOut(isNeeded: Uint8Array): void {
    for (let node = 0; node < isNeeded.length; node++) {
      if (!isNeeded[node]) this.#incompleteCount--;
      else for (const input of this.#graph.nodes[node]!.inputs) if (!isNeeded[input]) this.#waits[node]!--;
    }
  }

  /** Lets nodes wait for what the block before has not ended. */
  #follow(previous: BlockRun): void {
    previous.#next = this;
    for (let node = 0; node < this.#waits.length; node++) {
      if (previous.#usersLeft[node]! > 0) this.#waits[node]!++;
    }
  }

  #return(node: number, part: number): void {
    const returned = this.#returned.get(node) ?? [];
    this.#returned.set(node, returned);
    returned.push(part);
    if (this.#waits[node] === 0 && !this.#isReady[node]) this.#putReady(node);
  }

  #fail(node: number, reason: FailureReason): void {
    this.#end ??= { kind: "failed", plan: this.plan, block: this.block, node, reason };
    this.#next?.cancel();
  }

  #complete(node: number): void {
    this.#incompleteCount--;
    const graph = this.#graph;
    const isNeeded = this.#request!.isNeeded;
    for (let i = graph.firstConsumer(node); i < graph.firstConsumer(node + 1); i++) {
      const consumer = graph.consumer(i);
      if (graph.partCounts[node] === 1 && !isNeeded) this.#queuedInputs[consumer]!--;
      // Step 5: the children wait for one input less. Steps 6 and 7: those that wait for none enter the heap.
      if (isNeeded?.[consumer] !== 0) this.#waitForLess(consumer);
      else this.#waits[consumer]!--;
    }
    this.#noteUse(node);
    for (const input of graph.nodes[node]!.inputs) this.#noteUse(input);
  }

  /** One user less of what the node has written. */
  #noteUse(node: number): void {
    if (--this.#usersLeft[node]! === 0 && this.#next) this.#next.#waitForLess(node);
  }

  /** An input is complete, or the block before has ended the node and all its readers. */
  #waitForLess(node: number): void {
    if (--this.#waits[node]! > 0) this.#tryAhead(node);
    else if (this.#hasPartsToHandOut(node)) this.#putReady(node);
    else if (this.#partsLeft[node]! > 0) this.#released.push(node);
  }

  /** The first part of a node is in a queue: if it is its only one, others may follow it. */
  #noteQueued(node: number): void {
    const graph = this.#graph;
    if (graph.partCounts[node] !== 1 || this.isPartial) return;
    for (let i = graph.firstConsumer(node); i < graph.firstConsumer(node + 1); i++) {
      const consumer = graph.consumer(i);
      this.#queuedInputs[consumer]!++;
      this.#tryAhead(consumer);
    }
  }

  #tryAhead(node: number): void {
    const isAhead = this.#queuedInputs[node] === this.#waits[node] && this.#graph.partCounts[node] === 1;
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
