import { Heap } from "heap-js";
import type { FailureReason, RunEnd, RunInstruction, ScheduledNode } from "./events.ts";
import { NodeGraph } from "./node_graph.ts";

/**
 * The run of an open plan over one block: which nodes wait for what, and which are ready. One object serves all runs of
 * its plan, one after the other. A run costs O(nodes log nodes + edges).
 */
export class PlanRun {
  readonly plan: number;
  readonly #graph: NodeGraph;
  /** Inputs that are not complete, per node. */
  readonly #waits: Int32Array;
  /** Parts that are not done, per node. */
  readonly #partsLeft: Int32Array;
  /** The first part that was never handed out, per node. */
  readonly #nextPart: Int32Array;
  /** Parts that came back from lost executors, per node. */
  readonly #returned = new Map<number, number[]>();
  /** Parts that have been running on a lost executor, as `node:part`. */
  readonly #suspects = new Set<string>();
  /** Nodes that have parts to hand out. */
  readonly #ready: Heap<number>;
  readonly #isReady: Uint8Array;
  /** Completions seen by the run when the node became ready. */
  readonly #readyAt: Int32Array;
  #outstandingCount = 0;
  #completeCount = 0;
  #end: RunEnd | null = null;

  constructor(plan: number, nodes: readonly ScheduledNode[]) {
    this.plan = plan;
    this.#graph = new NodeGraph(nodes);
    this.#waits = new Int32Array(nodes.length);
    this.#partsLeft = new Int32Array(nodes.length);
    this.#nextPart = new Int32Array(nodes.length);
    this.#isReady = new Uint8Array(nodes.length);
    this.#readyAt = new Int32Array(nodes.length);
    this.#ready = new Heap((a, b) => this.#compare(a, b));
  }

  /** Begins a run; the one before has ended. */
  start(): void {
    this.#waits.set(this.#graph.inputCounts);
    this.#partsLeft.set(this.#graph.partCounts);
    this.#nextPart.fill(0);
    this.#isReady.fill(0);
    this.#returned.clear();
    this.#suspects.clear();
    this.#ready.clear();
    this.#completeCount = 0;
    this.#end = null;
    for (const node of this.#graph.sources) this.#putReady(node);
  }

  /** True if the run hands out no more parts: it was cancelled or has failed. */
  get isEnding(): boolean {
    return this.#end !== null;
  }

  /** True if there is a part to be handed out. */
  get hasReady(): boolean {
    return !this.isEnding && this.#ready.length > 0;
  }

  /** How the run ended, once no part of it is queued or running any more. */
  end(): RunEnd | null {
    if (this.#outstandingCount > 0) return null;
    if (this.#end) return this.#end;
    const isComplete = this.#completeCount === this.#graph.nodes.length;
    return isComplete ? { kind: "finished", plan: this.plan } : null;
  }

  cancel(): void {
    this.#end ??= { kind: "cancelled", plan: this.plan };
  }

  /** Hands out a part of the heaviest ready node. */
  handOut(executor: number): RunInstruction {
    const node = this.#ready.peek()!;
    const part = this.#returned.get(node)?.pop() ?? this.#nextPart[node]!++;
    if (!this.#hasPartsToHandOut(node)) {
      this.#ready.pop();
      this.#isReady[node] = 0;
    }
    this.#outstandingCount++;
    return { kind: "run", executor, plan: this.plan, node, part };
  }

  /** A part is done; the node completes with its last one. */
  partDone(node: number, part: number): void {
    this.#outstandingCount--;
    if (this.#suspects.size > 0) this.#suspects.delete(`${node}:${part}`);
    // Step 4.5: a broken-down node counts its parts.
    if (--this.#partsLeft[node]! === 0 && !this.isEnding) this.#complete(node);
  }

  /** The kernel of a part threw. */
  partFailed(node: number): void {
    this.#outstandingCount--;
    this.#fail(node, "kernel");
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
    const returned = this.#returned.get(node) ?? [];
    this.#returned.set(node, returned);
    returned.push(part);
    if (!this.#isReady[node]) this.#putReady(node);
  }

  #fail(node: number, reason: FailureReason): void {
    this.#end ??= { kind: "failed", plan: this.plan, node, reason };
  }

  #complete(node: number): void {
    this.#completeCount++;
    for (const consumer of this.#graph.consumersOf(node)) {
      // Step 5: the children wait for one input less. Steps 6 and 7: those that wait for none enter the heap.
      if (--this.#waits[consumer]! === 0) this.#putReady(consumer);
    }
  }

  #putReady(node: number): void {
    this.#isReady[node] = 1;
    this.#readyAt[node] = this.#completeCount;
    this.#ready.push(node);
  }

  /** Heaviest first; then the most recently ready, whose inputs are in caches still; then the lower id. */
  #compare(a: number, b: number): number {
    const { nodes } = this.#graph;
    return nodes[b]!.weight - nodes[a]!.weight || this.#readyAt[b]! - this.#readyAt[a]! || a - b;
  }

  #hasPartsToHandOut(node: number): boolean {
    const returned = this.#returned.get(node);
    if (returned && returned.length > 0) return true;
    return this.#nextPart[node]! < this.#graph.partCounts[node]!;
  }
}
