import { InternalError } from "../errors.ts";
import { runPart } from "../kernel/run_part.ts";
import type { Registry } from "../operator/registry.ts";
import { LoadedCall } from "./loaded_call.ts";
import { Inbox, mailboxSignal } from "./mailbox.ts";
import {
  type ExecutorTask,
  type ExecutorToMain,
  type LoadMessage,
  type MainToExecutor,
  PART_STATUS,
  RUN_WORDS,
} from "./protocol.ts";
import { Ring, type Signal } from "./rings.ts";

/**
 * Longest that a finished part waits for the rest of its batch before the scheduler is woken for it. A wake-up
 * costs about 5 us on both sides, more than small parts do; a heavy part is announced as soon as it is done.
 */
const NOTIFY_INTERVAL_MS = 0.1;

/** Runs an executor until it is told to stop: the one task that its thread ever gets. */
export async function runExecutor(task: ExecutorTask): Promise<void> {
  const { builtInRegistry } = (await import(task.operatorsUrl)) as { builtInRegistry: Registry };
  new Executor(task, builtInRegistry).run();
  task.mailbox.port.close();
}

class Executor {
  readonly #registry: Registry;
  readonly #task: ExecutorTask;
  readonly #inbox: Inbox<MainToExecutor>;
  readonly #signal: Signal;
  readonly #schedulerSignal: Signal;
  readonly #runs: Ring;
  readonly #completions: Ring;
  /** Records taken from `#runs` and not run yet. */
  readonly #batch: Int32Array;
  readonly #calls = new Map<number, LoadedCall | LoadFailure>();
  #isStopping = false;

  constructor(task: ExecutorTask, registry: Registry) {
    this.#registry = registry;
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
      // Read after the records: a call's letter is posted before its first part is queued.
      this.#readMail();
      if (this.#isStopping) return;
      if (count > 0) this.#runBatch(count);
      else this.#signal.wait(seen);
    }
  }

  #readMail(): void {
    for (const message of this.#inbox.takeAll()) {
      if (message.kind === "load") this.#calls.set(message.call, this.#load(message));
      else if (message.kind === "release") this.#calls.delete(message.call);
      else this.#isStopping = true;
    }
  }

  /** A call that cannot be loaded fails once a part of it is to be run; the others go on. */
  #load(message: LoadMessage): LoadedCall | LoadFailure {
    try {
      return new LoadedCall(message, this.#registry);
    } catch (error) {
      return new LoadFailure(error);
    }
  }

  /** Runs `count` parts, earlier calls first, then the heaviest, and wakes the scheduler in bulk. */
  #runBatch(count: number): void {
    let now = performance.now();
    let notifiedAt = now;
    for (const offset of this.#byUrgency(count)) {
      const startedAt = now;
      const call = this.#batch[offset]!;
      const node = this.#batch[offset + 1]!;
      const part = this.#batch[offset + 2]!;
      const status = this.#runPart(call, node, part);
      now = performance.now();
      const elapsedNs = Math.round((now - startedAt) * 1e6);
      this.#completions.push([status, call, node, part, Math.floor(elapsedNs / 1e9), elapsedNs % 1e9]);
      if (now - notifiedAt > NOTIFY_INTERVAL_MS) {
        this.#schedulerSignal.raise();
        notifiedAt = now;
      }
    }
    this.#schedulerSignal.raise();
  }

  /** Offsets of the records in `#batch`, in the order in which they are to be run. */
  #byUrgency(count: number): number[] {
    const batch = this.#batch;
    const weightAt = (offset: number) => this.#weightOf(batch[offset]!, batch[offset + 1]!);
    const offsets = Array.from({ length: count }, (_, index) => index * RUN_WORDS);
    return offsets.sort((a, b) => batch[a]! - batch[b]! || weightAt(b) - weightAt(a));
  }

  #weightOf(call: number, node: number): number {
    const entry = this.#entry(call);
    return entry instanceof LoadFailure ? 0 : entry.node(node).weight;
  }

  #runPart(call: number, node: number, part: number): number {
    const { running } = this.#task.link;
    Atomics.store(running, 0, call);
    Atomics.store(running, 1, node);
    Atomics.store(running, 2, part);
    const entry = this.#entry(call);
    if (entry instanceof LoadFailure) return this.#failPart(call, node, entry.text);
    try {
      runPart(entry.registry, entry.node(node), part, entry);
      return PART_STATUS.done;
    } catch (error) {
      return this.#failPart(call, node, textOf(error));
    }
  }

  #failPart(call: number, node: number, text: string): number {
    this.#tellMain({ kind: "failed", call, node, text });
    return PART_STATUS.failed;
  }

  #entry(call: number): LoadedCall | LoadFailure {
    const entry = this.#calls.get(call);
    if (!entry) throw new InternalError(`a part of call ${call} came before the call`);
    return entry;
  }

  #tellMain(message: ExecutorToMain): void {
    this.#task.mailbox.port.postMessage(message);
  }
}

/** Stands for a call that could not be loaded, such as for an operator's module that throws in a thread. */
class LoadFailure {
  readonly text: string;

  constructor(error: unknown) {
    this.text = `the call could not be loaded: ${textOf(error)}`;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
