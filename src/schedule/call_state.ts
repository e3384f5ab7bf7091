import type { CallEnd, CallSubmitted, FailureReason, RunInstruction } from "./events.ts";
import { memoryOrder } from "./memory_order.ts";
import { ReadyNodes } from "./ready_nodes.ts";
import { SlotGuard, Slots } from "./slots.ts";
import { WantedGraph } from "./wanted_graph.ts";

/** One call under way: which nodes wait for what, which are ready, and which columns are alive. O(nodes + edges). */
export class CallState {
  readonly id: number;
  /** Parts of this call that are done, and all of them. */
  partsDone = 0;
  readonly partCount: number;
  readonly #graph: WantedGraph;
  /** Inputs that are not complete, per node. */
  readonly #waits: Int32Array;
  /** Consumers that are not complete, per node. */
  readonly #readersLeft: Int32Array;
  /** Parts that are not done, per node. */
  readonly #partsLeft: Int32Array;
  /** The first part that was never handed out, per node. */
  readonly #nextPart: Int32Array;
  /** Parts that came back from lost executors, per node. */
  readonly #returned = new Map<number, number[]>();
  /** Parts that have been running on a lost executor, as `node:part`. */
  readonly #suspects = new Set<string>();
  readonly #ready: ReadyNodes;
  readonly #slots: Slots;
  /** Null while there is a slot for every node. */
  readonly #guard: SlotGuard | null;
  #outstandingCount = 0;
  #completeCount = 0;
  #end: CallEnd | null = null;

  constructor(submitted: CallSubmitted) {
    const { nodes, slotCount } = submitted;
    const graph = new WantedGraph(nodes, submitted.wanted);
    this.id = submitted.call;
    this.partCount = graph.partCount;
    this.#graph = graph;
    this.#waits = Int32Array.from(nodes, (node) => node.inputs.length);
    this.#readersLeft = Int32Array.from(nodes, (_, id) => graph.consumerCount(id));
    this.#partsLeft = Int32Array.from(nodes, (node) => node.partCount);
    this.#nextPart = new Int32Array(nodes.length);
    this.#slots = new Slots(nodes.length);
    const memory = slotCount < graph.wantedCount ? memoryOrder(graph) : null;
    this.#guard = memory && new SlotGuard(memory, this.#slots, nodes.length, slotCount);
    this.#ready = new ReadyNodes(memory !== null);
    if (memory && memory.slotsNeeded > slotCount) this.fail(memory.fullestNode, "memory");
    else for (let id = 0; id < nodes.length; id++) if (graph.isWanted(id)) this.#admit(id);
  }

  /** True if the call hands out no more parts: it was cancelled or has failed. */
  get isEnding(): boolean {
    return this.#end !== null;
  }

  /** How the call ended, once no part of it is queued or running any more. */
  end(): CallEnd | null {
    if (this.#outstandingCount > 0) return null;
    if (this.#end) return this.#end;
    return this.#completeCount === this.#graph.wantedCount ? { kind: "finished", call: this.id } : null;
  }

  cancel(): void {
    this.#end ??= { kind: "cancelled", call: this.id };
  }

  fail(node: number, reason: FailureReason): void {
    this.#end ??= { kind: "failed", call: this.id, node, reason };
  }

  /** The node whose part is to be handed out next; null if none is ready or none may take a slot. */
  next(): number | null {
    if (this.isEnding) return null;
    const guard = this.#guard;
    if (!guard || guard.hasPlenty) return this.#ready.heaviest()?.node ?? null;
    const entry = this.#ready.thriftiest();
    return entry && (entry.hasStarted || guard.mayTake(entry.node)) ? entry.node : null;
  }

  /** Hands out a part of the node that `next` named. */
  handOut(node: number, executor: number): RunInstruction {
    const part = this.#returned.get(node)?.pop() ?? this.#nextPart[node]!++;
    const isFirst = this.#slots.of(node) < 0;
    if (isFirst) {
      this.#slots.take(node);
      this.#guard?.noteTaken(node);
    }
    if (!this.#hasPartsToHandOut(node)) this.#ready.remove(node);
    else if (isFirst && this.#guard) this.#refresh(node);
    this.#outstandingCount++;
    return { kind: "run", executor, call: this.id, node, part, slot: this.#slots.of(node) };
  }

  /** A part is done; the node completes with its last one. */
  partDone(node: number, part: number): void {
    this.#outstandingCount--;
    this.partsDone++;
    if (this.#suspects.size > 0) this.#suspects.delete(`${node}:${part}`);
    // Step 4.5: a broken-down node counts its parts.
    if (--this.#partsLeft[node]! === 0 && !this.isEnding) this.#complete(node);
  }

  /** The kernel of a part threw. */
  partFailed(node: number): void {
    this.#outstandingCount--;
    this.fail(node, "kernel");
  }

  /** A part was lost with its executor; it is handed out again unless it was running at the second loss in a row. */
  partLost(node: number, part: number, wasRunning: boolean): void {
    this.#outstandingCount--;
    if (this.isEnding) return;
    const key = `${node}:${part}`;
    if (wasRunning && this.#suspects.has(key)) {
      this.fail(node, "executor");
      return;
    }
    if (wasRunning) this.#suspects.add(key);
    const returned = this.#returned.get(node) ?? [];
    this.#returned.set(node, returned);
    returned.push(part);
    if (!this.#ready.get(node)) this.#putReady(node);
  }

  #complete(node: number): void {
    this.#completeCount++;
    this.#guard?.noteComplete(node);
    // A column is given back with its last reader; a node without readers that is no output has none to wait for.
    for (const input of this.#graph.inputsOf(node)) {
      this.#readersLeft[input]!--;
      this.#releaseIfUnread(input);
      if (this.#readersLeft[input] === 1 && !this.#graph.nodes[input]!.isOutput)
        this.#refreshLastReader(input);
    }
    this.#releaseIfUnread(node);
    // Step 5: the children wait for one input less. Step 6: those that wait for none are ready.
    for (const consumer of this.#graph.consumersOf(node)) {
      this.#waits[consumer]!--;
      this.#admit(consumer);
    }
  }

  /** Step 7: a wanted node that waits for nothing enters the heap. */
  #admit(node: number): void {
    if (this.#waits[node] === 0) this.#putReady(node);
  }

  #putReady(node: number): void {
    this.#ready.put({
      node,
      weight: this.#graph.nodes[node]!.weight,
      releaseCount: this.#releaseCount(node),
      readyAt: this.#completeCount,
      position: this.#guard?.positionOf(node) ?? 0,
      hasStarted: this.#slots.of(node) >= 0,
    });
  }

  /** What a ready node holds or gives back has changed. */
  #refresh(node: number): void {
    const entry = this.#ready.get(node);
    if (!entry) return;
    const releaseCount = this.#releaseCount(node);
    this.#ready.put({ ...entry, releaseCount, hasStarted: this.#slots.of(node) >= 0 });
  }

  /** Once per column at most, so that all such walks together are O(edges). */
  #refreshLastReader(input: number): void {
    for (const consumer of this.#graph.consumersOf(input)) {
      if (this.#partsLeft[consumer]! > 0) this.#refresh(consumer);
    }
  }

  #releaseCount(node: number): number {
    let count = 0;
    for (const input of this.#graph.inputsOf(node)) {
      if (this.#readersLeft[input] === 1 && !this.#graph.nodes[input]!.isOutput) count++;
    }
    return count;
  }

  #releaseIfUnread(node: number): void {
    if (this.#readersLeft[node]! > 0 || this.#graph.nodes[node]!.isOutput) return;
    this.#guard?.noteReleased(node);
    this.#slots.release(node);
  }

  #hasPartsToHandOut(node: number): boolean {
    const returned = this.#returned.get(node);
    if (returned && returned.length > 0) return true;
    return this.#nextPart[node]! < this.#graph.nodes[node]!.partCount;
  }
}
