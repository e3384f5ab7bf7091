import type {
  Instruction,
  PartId,
  ReleaseInstruction,
  RunInstruction,
  SchedulerEvent,
  StealInstruction,
} from "../schedule/events.ts";
import { QUEUE_SLOTS } from "../schedule/executor_queue.ts";
import { Scheduler } from "../schedule/scheduler.ts";
import { beginLoop } from "./begin_loop.ts";
import {
  DONE_WORDS,
  type ExecutorLink,
  type MainToScheduler,
  nsOf,
  PART_STATUS,
  RUN_WORD,
  RUN_WORDS,
  type SchedulerLoopTask,
  type SchedulerToMain,
} from "./protocol.ts";
import { Inbox, mailboxSignal } from "./shared/mailbox.ts";
import { NodeMarks } from "./shared/node_marks.ts";
import { RecordRing, type Signal } from "./shared/rings.ts";
import { TimesRecorder } from "./times/times_recorder.ts";
import { TraceRecorder } from "./trace/trace_recorder.ts";

/** Starts the scheduler, which runs until a message stops it: the only task of its thread. */
export function beginScheduler(task: SchedulerLoopTask): void {
  const scheduler = new SchedulerThread(task);
  beginLoop(() => scheduler.run());
}

/** The scheduler's side of an executor. */
interface Executor {
  readonly id: number;
  readonly runs: RecordRing;
  readonly completions: RecordRing;
  readonly claims: Int32Array;
  readonly released: Int32Array;
  readonly waiting: Int32Array;
  readonly signal: Signal;
  readonly running: Int32Array;
  readonly completed: Int32Array;
  /** True if it was given something in this turn. */
  isTouched: boolean;
}

/** Passes events from rings and mail to the `Scheduler`, and carries out its instructions. */
class SchedulerThread {
  readonly #task: SchedulerLoopTask;
  readonly #scheduler: Scheduler;
  readonly #inbox: Inbox<MainToScheduler>;
  readonly #signal: Signal;
  readonly #executors = new Map<number, Executor>();
  readonly #marks = new Map<number, NodeMarks>();
  /** Null without a trace, which then costs one test per event. */
  readonly #trace: TraceRecorder | null;
  /** Null unless somebody asks. */
  readonly #times: TimesRecorder | null;
  readonly #record = new Int32Array(RUN_WORDS);
  /** The Float32 word of `#record`. */
  readonly #weight = new Float32Array(this.#record.buffer, 4 * RUN_WORD.weight, 1);
  /** To the steals of the instructions that are carried out. */
  readonly #answers: SchedulerEvent[] = [];
  #isStopping = false;

  constructor(task: SchedulerLoopTask) {
    this.#task = task;
    this.#scheduler = new Scheduler(task.options);
    this.#inbox = new Inbox(task.mailbox);
    this.#signal = mailboxSignal(task.mailbox.header);
    const { traceTaken, timeSums } = task;
    this.#times = timeSums && new TimesRecorder(timeSums);
    this.#trace = traceTaken && new TraceRecorder(traceTaken, (records) => this.#sendTrace(records));
  }

  run(): void {
    this.#tellMain({ kind: "hello" });
    while (!this.#isStopping) {
      const seen = this.#signal.read();
      const events: SchedulerEvent[] = [];
      Atomics.store(this.#task.unheard, 0, 0);
      for (const executor of this.#executors.values()) this.#takeCompletions(executor, events);
      for (let message = this.#inbox.take(); message; message = this.#inbox.take())
        this.#takeMessage(message, events);
      if (events.length > 0) this.#handleTimed(events);
      else if (!this.#isStopping) this.#signal.wait(seen, this.#spinNs());
    }
    this.#trace?.close();
  }

  /** Spins only while that takes no core from an executor, and while events are expected. */
  #spinNs(): number {
    const { busyCount } = this.#scheduler;
    return busyCount > 0 && busyCount < this.#task.cores ? this.#task.spinNs : 0;
  }

  #takeMessage(message: MainToScheduler, events: SchedulerEvent[]): void {
    switch (message.kind) {
      case "opened":
        this.#marks.set(message.plan, new NodeMarks(message.nodes, message.marks));
        events.push(message);
        break;
      case "closed":
        this.#marks.delete(message.plan);
        events.push(message);
        break;
      case "submitted":
        events.push(message);
        break;
      case "joined":
        this.#executors.set(message.executor, attach(message.executor, message.link));
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
    // What it completed before it was lost counts.
    this.#takeCompletions(executor, events);
    this.#executors.delete(id);
    // It will not clear the flag itself any more.
    if (Atomics.exchange(executor.waiting, 0, 0) === 1) Atomics.sub(this.#task.waitingCount, 0, 1);
    const running = runningPart(executor.running);
    const ticket = Atomics.load(executor.running, 5);
    if (running && this.#isEnded(id, ticket, running, events))
      events.push({ kind: "done", executor: id, ticket, ns: 0 });
    events.push({ kind: "fault", executor: id, running });
  }

  /** Whether a lost executor had ended what it ran last, and was lost before it reported that: its marks are completed. */
  #isEnded(
    id: number,
    ticket: number,
    { plan, block, node, part }: PartId,
    events: readonly SchedulerEvent[],
  ): boolean {
    const isReported = events.some(
      (event) => event.kind === "done" && event.executor === id && event.ticket === ticket,
    );
    if (isReported || !this.#scheduler.holds(id, ticket)) return false;
    const marks = this.#marks.get(plan);
    if (!marks?.isMarked(block, node, part)) return false;
    marks.mark(block, node, part);
    return true;
  }

  #takeCompletions({ id, completions, completed }: Executor, events: SchedulerEvent[]): void {
    const count = completions.drain(completed);
    for (let offset = 0; offset < count * DONE_WORDS; offset += DONE_WORDS) {
      const ticket = completed[offset + 1]!;
      const ns = completed[offset] === PART_STATUS.done ? nsOf(completed, offset) : null;
      events.push({ kind: "done", executor: id, ticket, ns });
      this.#trace?.noteDone(id, completed, offset);
      this.#times?.noteDone(id, completed, offset);
    }
  }

  #handleTimed(events: readonly SchedulerEvent[]): void {
    const startedAt = this.#times ? performance.now() : 0;
    this.#handle(events);
    this.#times?.noteHandled(events.length, performance.now() - startedAt);
  }

  /** Handles events, and the answers to the resulting steals. */
  #handle(events: readonly SchedulerEvent[]): void {
    this.#times?.noteEvents(events);
    const [scheduler, trace] = [this.#scheduler, this.#trace];
    for (let news = events; news.length > 0; news = this.#answers.splice(0)) {
      if (trace) trace.handleAll(scheduler, news, this.#carryOut);
      else scheduler.handleAll(news, this.#carryOut);
      this.#raiseTouched();
    }
    if (trace) trace.runAhead(scheduler, this.#carryOut);
    else scheduler.runAhead(this.#carryOut);
    this.#raiseTouched();
  }

  readonly #carryOut = (instruction: Instruction): void => {
    if (instruction.kind === "run") this.#queue(instruction);
    else if (instruction.kind === "release") this.#release(instruction);
    else if (instruction.kind === "steal") this.#answers.push(this.#steal(instruction));
    else {
      if (instruction.kind === "lost") this.#marks.get(instruction.plan)!.cut(instruction.block);
      this.#tellMain(instruction);
    }
    this.#times?.noteInstruction(instruction);
  };

  /**
   * An executor that got something begins with it, while others get theirs. A scheduler that shares a core with executors
   * raises them once it is done: a thread that wakes up may take its core.
   */
  #touch(executor: Executor): void {
    if (!executor.isTouched && this.#executors.size < this.#task.cores) executor.signal.raise();
    executor.isTouched = true;
  }

  #raiseTouched(): void {
    for (const executor of this.#executors.values()) {
      if (executor.isTouched) executor.signal.raise();
      executor.isTouched = false;
    }
  }

  #release({ executor: id, ticket }: ReleaseInstruction): void {
    const executor = this.#executors.get(id)!;
    Atomics.store(executor.released, ticket & (QUEUE_SLOTS - 1), ticket + 1);
    this.#touch(executor);
  }

  #queue(instruction: RunInstruction): void {
    const {
      executor: id,
      ticket,
      plan,
      block,
      node,
      part,
      call,
      priority = 0,
      weight,
      isAhead,
    } = instruction;
    const executor = this.#executors.get(id)!;
    const record = this.#record;
    record[0] = ticket;
    record[1] = plan;
    record[2] = block;
    record[3] = node;
    record[4] = part;
    record[RUN_WORD.call] = call;
    record[RUN_WORD.priority] = priority;
    this.#weight[0] = weight;
    record[RUN_WORD.isAhead] = isAhead ? 1 : 0;
    if (isAhead) Atomics.store(executor.released, ticket & (QUEUE_SLOTS - 1), 0);
    Atomics.store(executor.claims, ticket & (QUEUE_SLOTS - 1), ticket + 1);
    executor.runs.push(record);
    this.#touch(executor);
    this.#trace?.noteQueued(instruction);
  }

  /**
   * Takes a part back unless it has begun. Its record stays until the executor reaches it: with many such records, no
   * more parts are taken.
   */
  #steal({ executor: id, ticket }: StealInstruction): SchedulerEvent {
    const { runs, claims } = this.#executors.get(id)!;
    const slot = ticket & (QUEUE_SLOTS - 1);
    const isTaken =
      runs.waitingCount <= runs.capacity / 2 &&
      Atomics.compareExchange(claims, slot, ticket + 1, 0) === ticket + 1;
    if (isTaken) this.#trace?.noteStolen(id, ticket);
    return { kind: "stolen", executor: id, ticket, isTaken };
  }

  #sendTrace(records: Float64Array<ArrayBuffer>): void {
    const message: SchedulerToMain = { kind: "trace", records };
    this.#task.mailbox.port.postMessage(message, [records.buffer]);
  }

  #tellMain(message: SchedulerToMain): void {
    this.#task.mailbox.port.postMessage(message);
  }
}

function attach(id: number, link: ExecutorLink): Executor {
  const completions = new RecordRing(link.completions);
  return {
    id,
    runs: new RecordRing(link.runs),
    completions,
    claims: link.claims,
    released: link.released,
    waiting: link.waiting,
    signal: mailboxSignal(link.header),
    running: link.running,
    completed: new Int32Array(completions.capacity * DONE_WORDS),
    isTouched: false,
  };
}

function runningPart(running: Int32Array): PartId | null {
  const plan = Atomics.load(running, 0);
  if (plan < 0) return null;
  const [block, node, part] = [1, 2, 3].map((word) => Atomics.load(running, word));
  return { plan, block: block!, node: node!, part: part! };
}
