import type { Instruction, PartId, RunEnd, RunInstruction, SchedulerEvent } from "../../schedule/events.ts";
import { QUEUE_SLOTS } from "../../schedule/executor_queue.ts";
import { NodeGraph } from "../../schedule/node_graph.ts";
import { nsOf, startMsOf } from "../protocol.ts";
import { traceNowMs } from "../trace/trace_events.ts";
import { SUM, type Summed } from "./thread_times.ts";

/** What is known of a part that an executor has: its plan, block and node, and when it was handed out. */
interface Held extends Pick<PartId, "plan" | "block" | "node"> {
  readonly handedMs: number;
}

/** A part that has ended, in ms since 1970. */
interface Ended extends Held {
  readonly executor: number;
  /** When the executor ended the part before; null for its first one. */
  readonly beforeMs: number | null;
  readonly startMs: number;
  readonly endMs: number;
}

interface TimedRun {
  readonly submittedMs: number;
  readonly parts: Ended[];
}

interface TimedPlan {
  readonly graph: NodeGraph;
  readonly runs: Map<number, TimedRun>;
  /** By node: when the last run that has ended completed it. */
  before: Float64Array;
}

const SLOT_MASK = QUEUE_SLOTS - 1;

/**
 * The scheduler's side: notes what its thread sees, and sums up a run once it has ended. Costs some 100 ns a part on that
 * thread.
 */
export class TimesRecorder {
  readonly #sums: Float64Array;
  readonly #plans = new Map<number, TimedPlan>();
  readonly #held = new Map<number, (Held | undefined)[]>();
  readonly #lastEndMs = new Map<number, number>();
  /** Runs that have ended in this turn. */
  readonly #ended: RunEnd[] = [];
  #runCount = 0;
  #underWaySinceMs = 0;

  constructor(sums: Float64Array) {
    this.#sums = sums;
  }

  noteEvents(events: readonly SchedulerEvent[]): void {
    for (const event of events) {
      if (event.kind === "opened") {
        const before = new Float64Array(event.nodes.length);
        this.#plans.set(event.plan, { graph: new NodeGraph(event.nodes), runs: new Map(), before });
      } else if (event.kind === "submitted") {
        const submittedMs = traceNowMs();
        if (this.#runCount++ === 0) this.#underWaySinceMs = submittedMs;
        this.#plans.get(event.plan)!.runs.set(event.block, { submittedMs, parts: [] });
      } else if (event.kind === "closed") this.#plans.delete(event.plan);
    }
  }

  /** Completions of an executor come in their order. */
  noteDone(executor: number, records: Int32Array, offset: number): void {
    const held = this.#held.get(executor)?.[records[offset + 1]! & SLOT_MASK];
    const startMs = startMsOf(records, offset);
    const endMs = startMs + nsOf(records, offset) / 1e6;
    const beforeMs = this.#lastEndMs.get(executor) ?? null;
    this.#lastEndMs.set(executor, endMs);
    const run = held && this.#plans.get(held.plan)?.runs.get(held.block);
    run?.parts.push({ ...held!, executor, beforeMs, startMs, endMs });
  }

  /** Call it once it is carried out. */
  noteInstruction(instruction: Instruction): void {
    if (instruction.kind === "run") this.#noteHandedOut(instruction);
    else if (instruction.kind === "finished") this.#ended.push(instruction);
  }

  /** Call it at the end of a turn: summing up runs that have ended delays nobody then. */
  noteHandled(eventCount: number, ms: number): void {
    this.#add("events", eventCount);
    this.#add("handling", ms);
    for (const end of this.#ended.splice(0)) this.#noteEnd(end);
  }

  #noteHandedOut({ executor, ticket, plan, block, node }: RunInstruction): void {
    const held = this.#held.get(executor) ?? [];
    this.#held.set(executor, held);
    held[ticket & SLOT_MASK] = { plan, block, node, handedMs: traceNowMs() };
  }

  #noteEnd({ plan, block }: RunEnd): void {
    if (--this.#runCount === 0) this.#add("underWay", traceNowMs() - this.#underWaySinceMs);
    const timed = this.#plans.get(plan)!;
    const run = timed.runs.get(block)!;
    timed.runs.delete(block);
    this.#add("runs", 1);
    this.#sumUp(timed, run);
  }

  #sumUp(plan: TimedPlan, { submittedMs, parts }: TimedRun): void {
    const { nodes } = plan.graph;
    const ends = new Float64Array(nodes.length);
    const enders = new Int32Array(nodes.length).fill(-1);
    for (const { node, endMs, executor } of parts) {
      if (endMs < ends[node]!) continue;
      ends[node] = endMs;
      enders[node] = executor;
    }
    for (const part of parts) {
      const { node, executor, beforeMs, startMs, endMs, handedMs } = part;
      let last = -1;
      for (const input of nodes[node]!.inputs) if (last < 0 || ends[input]! > ends[last]!) last = input;
      const inputsMs = Math.max(submittedMs, last < 0 ? 0 : ends[last]!);
      const readyMs = Math.max(inputsMs, this.#freeMs(plan, node));
      this.#add("parts", 1);
      this.#add("running", endMs - startMs);
      if (last >= 0 && enders[last] !== executor) this.#add("hops", 1);
      if (beforeMs === null) continue;
      // The wait before the part, cut where it was submitted, ready and handed out.
      const [submitted, ready] = [Math.max(beforeMs, submittedMs), Math.max(beforeMs, readyMs)];
      const handed = Math.max(ready, handedMs);
      const upTo = (ms: number) => Math.min(ms, startMs);
      this.#add("noRun", upTo(submitted) - upTo(beforeMs));
      this.#add("noReady", upTo(ready) - upTo(submitted));
      this.#add("scheduler", upTo(handed) - upTo(ready));
      this.#add(handed > beforeMs ? "waking" : "taking", startMs - upTo(handed));
    }
    plan.before = ends;
  }

  /** When the run before was done with the columns of a node. */
  #freeMs({ graph, before }: TimedPlan, node: number): number {
    let free = before[node]!;
    if (graph.nodes[node]!.keepsRows) return free;
    for (let place = graph.firstConsumer(node); place < graph.firstConsumer(node + 1); place++)
      free = Math.max(free, before[graph.consumer(place)]!);
    return free;
  }

  #add(name: Summed, amount: number): void {
    this.#sums[SUM[name]]! += amount;
  }
}
