import { InternalError } from "../errors.ts";
import type { NodeStart } from "../kernel/run/node_runner.ts";
import { QUEUE_SLOTS } from "../schedule/executor_queue.ts";
import { beginLoop } from "./begin_loop.ts";
import type { PartRunner } from "./part_runner.ts";
import { PendingParts } from "./pending_parts.ts";
import { failureOf } from "./plan_failures.ts";
import {
  type DescribedBlock,
  DONE_WORDS,
  type ExecutorLoopTask,
  type ExecutorToMain,
  firstStart,
  type LoadMessage,
  type MainToExecutor,
  NO_PLAN,
  PART_STATUS,
  type PartFailure,
  type PlanData,
  packDone,
  RUN_WORD,
  readBlock,
} from "./protocol.ts";
import { Inbox, mailboxSignal } from "./shared/mailbox.ts";
import { NodeMarks } from "./shared/node_marks.ts";
import { RecordRing, type Signal } from "./shared/rings.ts";
import { collectGarbage } from "./watch/garbage.ts";

/**
 * The scheduler is woken for finished parts after this time at the latest, even if many are still to run. A wake-up
 * costs both sides 5 to 50 us, more than small parts do.
 */
export const NOTIFY_INTERVAL_MS = 2;

/** While an executor has at least this many parts to run, the scheduler need not be woken yet. */
export const COVERING_PARTS = 8;

/** Longest wait for parts of a call of higher priority, in ms: the scheduler's answer takes some ten us. */
const MORE_URGENT_MS = 0.1;

/** Read once: the getter allocates. */
const TIME_ORIGIN_MS = performance.timeOrigin;

type OpenRunner = (data: PlanData, executor: number) => PartRunner;

/** Starts an executor, which runs until a message stops it: the only task of its thread. */
export async function beginExecutor(task: ExecutorLoopTask): Promise<void> {
  const { openRunner } = (await import(task.runnerUrl)) as { openRunner: OpenRunner };
  const executor = new Executor(task, openRunner);
  beginLoop(() => executor.run());
}

class Executor {
  readonly #openRunner: OpenRunner;
  readonly #task: ExecutorLoopTask;
  readonly #inbox: Inbox<MainToExecutor>;
  readonly #signal: Signal;
  readonly #schedulerSignal: Signal;
  readonly #pending: PendingParts;
  readonly #completions: RecordRing;
  readonly #done = new Int32Array(DONE_WORDS);
  readonly #plans = new Map<number, LoadedPlan>();
  /** Parts done since the last wake-up of the scheduler, and the time of that. */
  #unannouncedCount = 0;
  #announcedAt = 0;
  #isStopping = false;

  constructor(task: ExecutorLoopTask, openRunner: OpenRunner) {
    this.#openRunner = openRunner;
    this.#task = task;
    this.#inbox = new Inbox(task.mailbox);
    this.#signal = mailboxSignal(task.mailbox.header);
    this.#schedulerSignal = mailboxSignal(task.schedulerHeader);
    this.#pending = new PendingParts(new RecordRing(task.link.runs));
    this.#completions = new RecordRing(task.link.completions);
  }

  run(): void {
    this.#tellMain({ kind: "hello" });
    for (;;) {
      const seen = this.#signal.read();
      this.#takeNews();
      if (this.#isStopping) return;
      if (!this.#runFirst()) this.#waitForParts(seen);
    }
  }

  #waitForParts(seen: number): void {
    const { waitingCount, unheard, link, spinNs } = this.#task;
    // Another executor may at any moment end the inputs of parts that this one has ahead: the scheduler need not know.
    const hasAhead = this.#pending.count > 0;
    if (hasAhead && this.#signal.spin(seen, spinNs, this.#hasOpenPart)) return;
    if (this.#unannouncedCount > 0) this.#announce();
    Atomics.store(link.waiting, 0, 1);
    Atomics.add(waitingCount, 0, 1);
    // Another executor may have ended a part and begun the next one, before this one counted as waiting.
    if (Atomics.load(unheard, 0) === 1) this.#schedulerSignal.raise();
    if (hasAhead) this.#noteSleep(true);
    if (!hasAhead) this.#signal.wait(seen, spinNs);
    else if (!this.#hasOpenPart()) this.#signal.wait(seen);
    if (hasAhead) this.#noteSleep(false);
    Atomics.sub(waitingCount, 0, 1);
    Atomics.store(link.waiting, 0, 0);
  }

  readonly #hasOpenPart = () => this.#pending.has(this.#isOpen);

  /** Others wake this thread for the parts that it has ahead only while it says that it sleeps. */
  #noteSleep(isAsleep: boolean): void {
    const { executor, sleeping } = this.#task;
    const [word, bit] = [executor >> 5, 1 << (executor & 31)];
    if (isAsleep) Atomics.or(sleeping, word, bit);
    else Atomics.and(sleeping, word, ~bit);
  }

  /** A node has ended: wakes executors that sleep and have parts ahead, one of which may wait for it. */
  #wakeWaiting(): void {
    const { sleeping, headers } = this.#task;
    for (let word = 0; word < sleeping.length; word++) {
      for (let bits = Atomics.load(sleeping, word); bits !== 0; bits &= bits - 1)
        mailboxSignal(headers[32 * word + 31 - Math.clz32(bits & -bits)]!).raise();
    }
  }

  /** Takes queued records, then messages: that of a plan is posted before its first part is queued. */
  #takeNews(): void {
    this.#pending.drain();
    for (let message = this.#inbox.take(); message; message = this.#inbox.take()) {
      if (message.kind === "load") {
        const marks = new NodeMarks(message.plan.nodes, message.marks);
        this.#plans.set(message.id, { message, marks, runner: this.#load(message), described: null });
      } else if (message.kind === "release") this.#plans.delete(message.id);
      else if (message.kind === "collect") collectGarbage();
      else this.#isStopping = true;
    }
  }

  /** Loads a plan. If that fails, its runs fail; other plans continue. */
  #load(message: LoadMessage): PartRunner | PartFailure {
    if (!message.isLoadable) return failureOf("load", "it has ended its threads");
    const { loading } = this.#task.link;
    Atomics.store(loading, 0, message.id);
    try {
      return this.#openRunner(message, this.#task.executor);
    } catch (error) {
      return failureOf("load", error);
    } finally {
      Atomics.store(loading, 0, NO_PLAN);
    }
  }

  /**
   * Runs the most urgent part unless it was stolen, and wakes the scheduler once for several parts; false if there is
   * no part.
   */
  #runFirst(): boolean {
    const { words } = this.#pending;
    const record = this.#pending.takeFirst(this.#isOpen);
    if (record < 0) return false;
    const ticket = words[record]!;
    if (!this.#claim(ticket)) return true;
    const startedAt = performance.now();
    const plan = words[record + 1]!;
    const block = words[record + 2]!;
    const node = words[record + 3]!;
    const priority = words[record + RUN_WORD.priority]!;
    const part = words[record + 4]!;
    const status = this.#runPart(plan, block, node, part, ticket);
    const endedAt = performance.now();
    const ns = Math.round((endedAt - startedAt) * 1e6);
    packDone(this.#done, status, ticket, TIME_ORIGIN_MS + startedAt, ns);
    // Reported last: a block ends with its last report, and its marks are used again.
    if (this.#plan(plan).marks.mark(block, node, part)) this.#wakeWaiting();
    this.#completions.push(this.#done);
    this.#unannouncedCount++;
    Atomics.store(this.#task.unheard, 0, 1);
    if (this.#isDue(plan, endedAt)) this.#announce(endedAt);
    this.#awaitMoreUrgent(priority);
    return true;
  }

  /**
   * Waits a moment for parts of a call of higher priority than what is pending, behind a part of it: what it releases
   * would else wait for a part of the other call.
   */
  #awaitMoreUrgent(priority: number): void {
    const isNextLess = () => (this.#pending.firstPriority(this.#isOpen) ?? priority) < priority;
    if (this.#pending.count === 0 || !isNextLess()) return;
    const seen = this.#signal.read();
    this.#takeNews();
    if (isNextLess()) this.#signal.waitFor(seen, MORE_URGENT_MS);
  }

  /**
   * True if the scheduler should be woken. It is woken while some of its parts are still to run, which cover its time,
   * but before a part of another call runs, as the earlier call may have more parts by then.
   */
  #isDue(plan: number, now: number): boolean {
    const { count, first, words } = this.#pending;
    return (
      first < 0 ||
      words[first + 1] !== plan ||
      (count <= COVERING_PARTS && this.#unannouncedCount >= count) ||
      now - this.#announcedAt > NOTIFY_INTERVAL_MS ||
      Atomics.load(this.#task.waitingCount, 0) > 0
    );
  }

  #announce(now = performance.now()): void {
    this.#schedulerSignal.raise();
    this.#unannouncedCount = 0;
    this.#announcedAt = now;
  }

  /** True if the inputs of a part that was handed out ahead are done, or if the part was stolen. */
  readonly #isOpen = (record: number): boolean => {
    const { words } = this.#pending;
    const ticket = words[record]!;
    const { claims, released } = this.#task.link;
    const slot = ticket & (QUEUE_SLOTS - 1);
    if (Atomics.load(claims, slot) !== ticket + 1 || Atomics.load(released, slot) === ticket + 1) return true;
    const { message, marks } = this.#plan(words[record + 1]!);
    const block = words[record + 2]!;
    for (const input of message.plan.nodes[words[record + 3]!]!.inputs)
      if (!marks.isEnded(block, input)) return false;
    return true;
  };

  /** False if another executor has stolen the part. */
  #claim(ticket: number): boolean {
    const { claims } = this.#task.link;
    return Atomics.compareExchange(claims, ticket & (QUEUE_SLOTS - 1), ticket + 1, 0) === ticket + 1;
  }

  #runPart(id: number, block: number, node: number, part: number, ticket: number): number {
    const { running } = this.#task.link;
    Atomics.store(running, 0, id);
    Atomics.store(running, 1, block);
    Atomics.store(running, 2, node);
    Atomics.store(running, 3, part);
    // Last: with the ticket before it, which is reported, a thread that is lost here has not ended this part.
    Atomics.store(running, 5, ticket);
    Atomics.add(running, 4, 1);
    try {
      const plan = this.#plan(id);
      const { runner, message, marks } = plan;
      if (marks.isCut(block)) return PART_STATUS.passedOver;
      if (!("run" in runner)) return this.#failPart(id, block, node, runner);
      const described = describedBlock(plan, block);
      runner.run(node, part, described, described.hasStarts ? startOf(message, block, node) : undefined);
      return PART_STATUS.done;
    } catch (error) {
      return this.#failPart(id, block, node, failureOf("run", error));
    } finally {
      Atomics.add(running, 4, 1);
    }
  }

  /** Cuts the block, so that nothing runs of what reads the part. A thread that is lost before runs it elsewhere again. */
  #failPart(plan: number, block: number, node: number, failure: PartFailure): number {
    this.#tellMain({ kind: "failed", plan, block, node, failure });
    this.#plan(plan).marks.cut(block);
    return PART_STATUS.failed;
  }

  #plan(id: number): LoadedPlan {
    const plan = this.#plans.get(id);
    if (!plan) throw new InternalError(`a part of plan ${id} came before the plan`);
    return plan;
  }

  #tellMain(message: ExecutorToMain): void {
    this.#task.mailbox.port.postMessage(message);
  }
}

interface LoadedPlan {
  readonly message: LoadMessage;
  readonly marks: NodeMarks;
  /** Or the reason why the plan could not be loaded, such as an operator's module that throws in a thread. */
  readonly runner: PartRunner | PartFailure;
  /** The block of the last part. */
  described: { readonly number: number; readonly block: DescribedBlock } | null;
}

/** Block numbers are never reused within a plan's runs under way, so the description of a number does not change. */
function describedBlock(plan: LoadedPlan, number: number): DescribedBlock {
  if (plan.described?.number !== number)
    plan.described = { number, block: readBlock(plan.message.blockWords, number) };
  return plan.described.block;
}

function startOf({ starts, plan }: LoadMessage, block: number, node: number): NodeStart {
  const index = firstStart(block, plan.nodes.length) + node;
  return {
    row: starts.rows[index]!,
    rebuild: starts.isRebuilt[index] === 1,
    generation: starts.generations[index]!,
  };
}
