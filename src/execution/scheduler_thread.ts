import type { Instruction, PartId, SchedulerEvent } from "../schedule/events.ts";
import { Scheduler } from "../schedule/scheduler.ts";
import { Inbox, mailboxSignal } from "./mailbox.ts";
import {
  DONE_WORDS,
  type ExecutorLink,
  type MainToScheduler,
  PART_STATUS,
  type SchedulerTask,
  type SchedulerToMain,
} from "./protocol.ts";
import { Ring, type Signal } from "./rings.ts";

/** Runs the scheduler until it is told to stop: the one task that its thread ever gets. */
export function runScheduler(task: SchedulerTask): void {
  new SchedulerThread(task).run();
  task.mailbox.port.close();
}

/** The scheduler's side of an executor. */
interface Executor {
  readonly runs: Ring;
  readonly completions: Ring;
  readonly signal: Signal;
  readonly running: Int32Array;
  readonly completed: Int32Array;
}

/** Carries events from the rings and the mail to the `Scheduler`, and its instructions back. */
class SchedulerThread {
  readonly #task: SchedulerTask;
  readonly #scheduler: Scheduler;
  readonly #inbox: Inbox<MainToScheduler>;
  readonly #signal: Signal;
  readonly #executors = new Map<number, Executor>();
  /** Measured ns of each node, by plan. */
  readonly #nodeNs = new Map<number, Float64Array>();
  #isStopping = false;

  constructor(task: SchedulerTask) {
    this.#task = task;
    this.#scheduler = new Scheduler(task.queueParts);
    this.#inbox = new Inbox(task.mailbox);
    this.#signal = mailboxSignal(task.mailbox.header);
  }

  run(): void {
    this.#tellMain({ kind: "hello" });
    while (!this.#isStopping) {
      const seen = this.#signal.read();
      const events: SchedulerEvent[] = [];
      for (const [id, executor] of this.#executors) takeCompletions(id, executor, this.#nodeNs, events);
      for (const message of this.#inbox.takeAll()) this.#takeMessage(message, events);
      if (events.length === 0) {
        // Blocks, never spins: an executor or the main thread raises the signal.
        if (!this.#isStopping) this.#signal.wait(seen);
        continue;
      }
      this.#carryOut(this.#scheduler.handleAll(events));
    }
  }

  #takeMessage(message: MainToScheduler, events: SchedulerEvent[]): void {
    switch (message.kind) {
      case "opened":
        this.#nodeNs.set(message.plan, message.nodeNs);
        events.push(message);
        break;
      case "closed":
        this.#nodeNs.delete(message.plan);
        events.push(message);
        break;
      case "submitted":
      case "cancel":
        events.push(message);
        break;
      case "joined":
        this.#executors.set(message.executor, attach(message.link));
        events.push({ kind: "joined", executor: message.executor });
        break;
      case "fault":
        this.#loseExecutor(message.executor, events);
        break;
      case "stop":
        this.#isStopping = true;
        break;
    }
  }

  #loseExecutor(id: number, events: SchedulerEvent[]): void {
    const executor = this.#executors.get(id);
    if (!executor) return;
    // What it finished before it was lost counts.
    takeCompletions(id, executor, this.#nodeNs, events);
    this.#executors.delete(id);
    events.push({ kind: "fault", executor: id, running: runningPart(executor.running) });
  }

  /** Pushes all parts first and wakes each executor once. */
  #carryOut(instructions: readonly Instruction[]): void {
    const touched = new Set<Executor>();
    for (const instruction of instructions) {
      if (instruction.kind !== "run") {
        this.#tellMain(instruction);
        continue;
      }
      const executor = this.#executors.get(instruction.executor)!;
      executor.runs.push([instruction.plan, instruction.node, instruction.part]);
      touched.add(executor);
    }
    for (const executor of touched) executor.signal.raise();
  }

  #tellMain(message: SchedulerToMain): void {
    this.#task.mailbox.port.postMessage(message);
  }
}

function attach(link: ExecutorLink): Executor {
  const completions = new Ring(link.completions);
  return {
    runs: new Ring(link.runs),
    completions,
    signal: mailboxSignal(link.header),
    running: link.running,
    completed: new Int32Array(completions.capacity * DONE_WORDS),
  };
}

function takeCompletions(
  id: number,
  { completions, completed }: Executor,
  nodeNsOf: ReadonlyMap<number, Float64Array>,
  events: SchedulerEvent[],
): void {
  const count = completions.drain(completed);
  for (let offset = 0; offset < count * DONE_WORDS; offset += DONE_WORDS) {
    const plan = completed[offset + 1]!;
    const node = completed[offset + 2]!;
    const part = completed[offset + 3]!;
    const nodeNs = nodeNsOf.get(plan);
    if (nodeNs) nodeNs[node]! += completed[offset + 4]! * 1e9 + completed[offset + 5]!;
    const kind = completed[offset] === PART_STATUS.done ? "done" : "failed";
    events.push({ kind, executor: id, plan, node, part });
  }
}

function runningPart(running: Int32Array): PartId | null {
  const plan = Atomics.load(running, 0);
  if (plan < 0) return null;
  return { plan, node: Atomics.load(running, 1), part: Atomics.load(running, 2) };
}
