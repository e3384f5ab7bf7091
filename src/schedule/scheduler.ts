import { Heap } from "heap-js";
import { CallState } from "./call_state.ts";
import type { Instruction, PartId, SchedulerEvent } from "./events.ts";
import { ExecutorQueues } from "./executor_queues.ts";

/**
 * Parts that an executor may hold, the running one included. Deep queues spare wake-ups: 20,000 empty parts on one
 * executor took 44, 23, 12, 6 and 3 us each with room for 1, 2, 4, 8 and 16 (2-core virtual machine, Node 26). But
 * what is queued is not taken back, and a heavy node waits behind it: on simulated sets of 100 factors and 16
 * executors the makespan exceeds its lower bound by 0.1, 0.2, 6, 8 and 8 %. Four is the least that keeps the
 * scheduler's share small for parts of 100 us and more.
 */
export const QUEUE_PARTS_DEFAULT = 4;

/**
 * Parts that an executor may hold when the next part is not of the earliest call: the running one, and one more so
 * that it need not idle while the scheduler hears of it. The earliest call finds the rest of the queue free.
 */
const LATER_CALL_PARTS_MAX = 2;

/** How far a call has come. */
export interface Progress {
  readonly partsDone: number;
  readonly partCount: number;
}

/**
 * Decides which part runs on which executor, and when. Pure: events in, instructions out, the same every time.
 *
 * The steps are numbered as in the design: (1) start; (2) stop when nothing is ready and nothing runs, which is
 * the caller's business: `handleAll` then returns no instruction and none is owed; (3) hand out the heaviest ready
 * nodes until none is left or no queue has room; (4) take completions, (4.5) counting the parts of broken-down
 * nodes; (5) decrement what the children wait for; (6) children that are ready (7) enter the heap.
 *
 * An event costs O(log ready nodes) per part that it completes or hands out, plus the edges of nodes it completes.
 */
export class Scheduler {
  readonly #queues: ExecutorQueues;
  /** Calls that have not ended, earliest first. */
  readonly #calls = new Map<number, CallState>();
  /** Calls that may have a part to hand out, earliest first: ids grow. */
  readonly #askable = new Heap<CallState>((a, b) => a.id - b.id);
  readonly #isAskable = new Set<CallState>();

  /** @param queueParts How many parts an executor's queue holds. */
  constructor(queueParts = QUEUE_PARTS_DEFAULT) {
    this.#queues = new ExecutorQueues(queueParts);
  }

  /** Takes one event and returns what is to be done about it. */
  handle(event: SchedulerEvent): Instruction[] {
    return this.handleAll([event]);
  }

  /** Takes events in bulk, in the order in which they happened, and hands out parts once for all of them. */
  handleAll(events: readonly SchedulerEvent[]): Instruction[] {
    const instructions: Instruction[] = [];
    for (const event of events) this.#take(event, instructions);
    this.#handOut(instructions);
    return instructions;
  }

  /** How far a call has come; undefined once it has ended. */
  progress(call: number): Progress | undefined {
    return this.#calls.get(call);
  }

  #take(event: SchedulerEvent, instructions: Instruction[]): void {
    switch (event.kind) {
      case "submitted": {
        // Step 1.
        const call = new CallState(event);
        this.#calls.set(call.id, call);
        this.#settle(call, instructions);
        break;
      }
      case "cancel": {
        const call = this.#calls.get(event.call);
        call?.cancel();
        this.#settle(call, instructions);
        break;
      }
      case "joined":
        this.#queues.join(event.executor);
        break;
      case "fault":
        this.#loseExecutor(event.executor, event.running, instructions);
        break;
      case "done":
      case "failed": {
        // Step 4. News of a part that this executor does not hold is late news of a lost executor.
        if (!this.#queues.take(event.executor, event)) break;
        const call = this.#calls.get(event.call);
        if (event.kind === "done") call?.partDone(event.node, event.part);
        else call?.partFailed(event.node);
        this.#settle(call, instructions);
        break;
      }
    }
  }

  #loseExecutor(executor: number, running: PartId | null, instructions: Instruction[]): void {
    for (const { call: id, node, part } of this.#queues.lose(executor)) {
      const wasRunning = running?.call === id && running.node === node && running.part === part;
      const call = this.#calls.get(id);
      call?.partLost(node, part, wasRunning);
      this.#settle(call, instructions);
    }
  }

  /** Ends a call whose last part has come back; otherwise it may have parts to hand out now. */
  #settle(call: CallState | undefined, instructions: Instruction[]): void {
    if (!call) return;
    const end = call.end();
    if (end) {
      this.#calls.delete(call.id);
      instructions.push(end);
    } else if (!this.#isAskable.has(call)) {
      this.#isAskable.add(call);
      this.#askable.add(call);
    }
  }

  /** Step 3: the heaviest ready nodes of the earliest call that has any, into the least filled queues. */
  #handOut(instructions: Instruction[]): void {
    const earliest = this.#earliestCall();
    for (let call = this.#askable.peek(); call; call = this.#askable.peek()) {
      const node = call.next();
      if (node === null) {
        this.#askable.pop();
        this.#isAskable.delete(call);
        continue;
      }
      const executor = this.#queues.leastFilled(call === earliest ? undefined : LATER_CALL_PARTS_MAX);
      if (executor === null) return;
      const instruction = call.handOut(node, executor);
      this.#queues.put(executor, instruction);
      instructions.push(instruction);
    }
  }

  #earliestCall(): CallState | undefined {
    for (const call of this.#calls.values()) if (!call.isEnding) return call;
    return undefined;
  }
}
