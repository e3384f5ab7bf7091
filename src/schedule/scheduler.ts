import type { Instruction, PartId, SchedulerEvent } from "./events.ts";
import { ExecutorQueues } from "./executor_queues.ts";
import { PlanRun } from "./plan_run.ts";

/**
 * Parts that an executor may hold, the running one included. Deep queues spare wake-ups: 20,000 empty parts on one
 * executor took 44, 23, 12, 6 and 3 us each with room for 1, 2, 4, 8 and 16 (2-core virtual machine, Node 26). But
 * what is queued is not taken back, and a heavy node waits behind it: on simulated sets of 100 factors and 16
 * executors the makespan exceeds its lower bound by 0.1, 0.2, 6, 8 and 8 %. Four is the least that keeps the
 * scheduler's share small for parts of 100 us and more.
 */
export const QUEUE_PARTS_DEFAULT = 4;

/**
 * Parts that an executor may hold when the next part is not of the earliest run: the running one, and one more so
 * that it need not idle while the scheduler hears of it. The earliest run finds the rest of the queue free.
 */
const LATER_RUN_PARTS_MAX = 2;

/**
 * Decides which part runs on which executor, and when. Pure: events in, instructions out, the same every time.
 *
 * The steps are numbered as in the design: (1) start; (2) stop when nothing is ready and nothing runs, which is
 * the caller's business: `handleAll` then returns no instruction and none is owed; (3) hand out the heaviest ready
 * nodes until none is left or no queue has room; (4) take completions, (4.5) counting the parts of broken-down
 * nodes; (5) decrement what the children wait for; (6) children that are ready (7) enter the heap.
 *
 * An event costs O(log ready nodes) per part that it completes or hands out, plus the edges of nodes it completes; a
 * bulk of events costs O(runs under way) on top.
 */
export class Scheduler {
  readonly #queues: ExecutorQueues;
  /** Open plans, with the run that each has under way or had last. */
  readonly #plans = new Map<number, PlanRun>();
  /** Runs that have not ended, in the order in which they were submitted. */
  readonly #underWay = new Set<PlanRun>();

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

  #take(event: SchedulerEvent, instructions: Instruction[]): void {
    switch (event.kind) {
      case "opened":
        this.#plans.set(event.plan, new PlanRun(event.plan, event.nodes));
        break;
      case "submitted":
        this.#start(this.#plans.get(event.plan)!, instructions);
        break;
      case "cancel": {
        const run = this.#runUnderWay(event.plan);
        run?.cancel();
        this.#settle(run, instructions);
        break;
      }
      case "closed":
        this.#plans.delete(event.plan);
        break;
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
        const run = this.#runUnderWay(event.plan);
        if (event.kind === "done") run?.partDone(event.node, event.part);
        else run?.partFailed(event.node);
        this.#settle(run, instructions);
        break;
      }
    }
  }

  /** Step 1. */
  #start(run: PlanRun, instructions: Instruction[]): void {
    if (this.#underWay.has(run)) throw new Error(`a run of plan ${run.plan} is under way`);
    run.start();
    this.#underWay.add(run);
    this.#settle(run, instructions);
  }

  #runUnderWay(plan: number): PlanRun | undefined {
    const run = this.#plans.get(plan);
    return run && this.#underWay.has(run) ? run : undefined;
  }

  #loseExecutor(executor: number, running: PartId | null, instructions: Instruction[]): void {
    for (const { plan, node, part } of this.#queues.lose(executor)) {
      const wasRunning = running?.plan === plan && running.node === node && running.part === part;
      const run = this.#runUnderWay(plan);
      run?.partLost(node, part, wasRunning);
      this.#settle(run, instructions);
    }
  }

  /** Ends a run whose last part has come back. */
  #settle(run: PlanRun | undefined, instructions: Instruction[]): void {
    const end = run?.end();
    if (!run || !end) return;
    this.#underWay.delete(run);
    instructions.push(end);
  }

  /** Step 3: the heaviest ready nodes of the earliest run that has any, into the least filled queues. */
  #handOut(instructions: Instruction[]): void {
    let partsMax: number | undefined;
    for (const run of this.#underWay) {
      while (run.hasReady) {
        const executor = this.#queues.leastFilled(partsMax);
        if (executor === null) return;
        const instruction = run.handOut(executor);
        this.#queues.put(executor, instruction);
        instructions.push(instruction);
      }
      if (!run.isEnding) partsMax = LATER_RUN_PARTS_MAX;
    }
  }
}
