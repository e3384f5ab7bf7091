import { InternalError } from "../errors.ts";
import { Inbox, mailboxSignal } from "./mailbox.ts";
import type { PartRunner } from "./part_runner.ts";
import { failureOf, type PartFailure } from "./plan_failures.ts";
import {
  type ExecutorTask,
  type ExecutorToMain,
  type LoadMessage,
  type MainToExecutor,
  PART_STATUS,
  type PlanData,
  RUN_WORDS,
  readBlock,
} from "./protocol.ts";
import { Ring, type Signal } from "./rings.ts";

/**
 * Longest that a finished part waits for the rest of its batch before the scheduler is woken for it. A wake-up
 * costs about 5 us on both sides, more than small parts do; a heavy part is announced as soon as it is done.
 */
const NOTIFY_INTERVAL_MS = 0.1;

type OpenRunner = (data: PlanData, executor: number) => PartRunner;

/** Runs an executor until it is told to stop: the one task that its thread ever gets. */
export async function runExecutor(task: ExecutorTask): Promise<void> {
  const { openRunner } = (await import(task.runnerUrl)) as { openRunner: OpenRunner };
  new Executor(task, openRunner).run();
  task.mailbox.port.close();
}

class Executor {
  readonly #openRunner: OpenRunner;
  readonly #task: ExecutorTask;
  readonly #inbox: Inbox<MainToExecutor>;
  readonly #signal: Signal;
  readonly #schedulerSignal: Signal;
  readonly #runs: Ring;
  readonly #completions: Ring;
  /** Records taken from `#runs` and not run yet. */
  readonly #batch: Int32Array;
  readonly #plans = new Map<number, LoadedPlan>();
  #isStopping = false;

  constructor(task: ExecutorTask, openRunner: OpenRunner) {
    this.#openRunner = openRunner;
    this.#task = task;
    this.#inbox = new Inbox(task.mailbox);
    this.#signal = mailboxSignal(task.mailbox.header);
    this.#schedulerSignal = mailboxSignal(task.schedulerHeader);
    this.#runs = new Ring(task.link.runs);
    this.#completions = new Ring(task.link.completions);
    this.#batch = new Int32Array(this.#runs.capacity * RUN_WORDS);
  }

  run(): void {
    this.#tellMain({ kind: "hello" });
    for (;;) {
      const seen = this.#signal.read();
      const count = this.#runs.drain(this.#batch);
      // Read after the records: a plan's letter is posted before its first part is queued.
      this.#readMail();
      if (this.#isStopping) return;
      if (count > 0) this.#runBatch(count);
      else this.#signal.wait(seen);
    }
  }

  #readMail(): void {
    for (const message of this.#inbox.takeAll()) {
      if (message.kind === "load") this.#plans.set(message.id, this.#load(message));
      else if (message.kind === "release") this.#plans.delete(message.id);
      else this.#isStopping = true;
    }
  }

  /** A plan that cannot be loaded fails its runs; the others go on. */
  #load(message: LoadMessage): LoadedPlan {
    const { plan, blockWords } = message;
    const weights = Float64Array.from(plan.nodes, ({ weight }) => weight);
    try {
      return { runner: this.#openRunner(message, this.#task.executor), weights, blockWords };
    } catch (error) {
      return { runner: failureOf("load", error), weights, blockWords };
    }
  }

  /** Runs `count` parts, earlier plans first, then the heaviest, and wakes the scheduler in bulk. */
  #runBatch(count: number): void {
    let now = performance.now();
    let notifiedAt = now;
    for (const offset of this.#byUrgency(count)) {
      const startedAt = now;
      const plan = this.#batch[offset]!;
      const node = this.#batch[offset + 1]!;
      const part = this.#batch[offset + 2]!;
      const status = this.#runPart(plan, node, part);
      now = performance.now();
      const elapsedNs = Math.round((now - startedAt) * 1e6);
      this.#completions.push([status, plan, node, part, Math.floor(elapsedNs / 1e9), elapsedNs % 1e9]);
      if (now - notifiedAt > NOTIFY_INTERVAL_MS) {
        this.#schedulerSignal.raise();
        notifiedAt = now;
      }
    }
    this.#schedulerSignal.raise();
  }

  /** Offsets of the records in `#batch`, in the order in which they are to be run. */
  #byUrgency(count: number): readonly number[] {
    if (count === 1) return FIRST_RECORD;
    const batch = this.#batch;
    const weightAt = (offset: number) => this.#plan(batch[offset]!).weights[batch[offset + 1]!]!;
    const offsets = Array.from({ length: count }, (_, index) => index * RUN_WORDS);
    return offsets.sort((a, b) => batch[a]! - batch[b]! || weightAt(b) - weightAt(a));
  }

  #runPart(id: number, node: number, part: number): number {
    const { running } = this.#task.link;
    Atomics.store(running, 0, id);
    Atomics.store(running, 1, node);
    Atomics.store(running, 2, part);
    const { runner, blockWords } = this.#plan(id);
    if (!("run" in runner)) return this.#failPart(id, runner);
    try {
      runner.run(node, part, readBlock(blockWords));
      return PART_STATUS.done;
    } catch (error) {
      return this.#failPart(id, failureOf("run", error));
    }
  }

  #failPart(plan: number, failure: PartFailure): number {
    this.#tellMain({ kind: "failed", plan, failure });
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

const FIRST_RECORD: readonly number[] = [0];

interface LoadedPlan {
  /** Or why the plan could not be loaded, such as for an operator's module that throws in a thread. */
  readonly runner: PartRunner | PartFailure;
  /** Weight of each node. */
  readonly weights: Float64Array;
  readonly blockWords: Float64Array;
}
