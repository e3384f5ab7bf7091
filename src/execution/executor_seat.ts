import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { QUEUE_SLOTS } from "../schedule/executor_queue.ts";
import {
  DONE_WORDS,
  type ExecutorLink,
  type ExecutorLoopTask,
  type ExecutorToMain,
  type MainToExecutor,
  NO_PLAN,
  type PartFailure,
  RUN_RING_RECORDS,
  RUN_WORDS,
  type SeatOptions,
} from "./protocol.ts";
import { Outbox } from "./shared/mailbox.ts";
import { RecordRing } from "./shared/rings.ts";
import type { ThreadLoop, Threads } from "./thread_loops.ts";
import type { StampedThread } from "./watch/hang_watch.ts";
import type { WatchedThread } from "./watch/heap_watch.ts";

/** Events of an executor that the pool handles. */
export interface SeatListener {
  /** The executor has started and may get work. */
  onHello(seat: ExecutorSeat): void;
  /** A kernel threw, or the plan could not be loaded. */
  onPartFailure(plan: number, block: number, node: number, failure: PartFailure): void;
  /** The loop ended unexpectedly: the thread exited, ran out of memory, or threw. */
  onLoss(seat: ExecutorSeat, error: Error): void;
}

/**
 * The main thread's side of one executor: the Piscina task of its thread, which never ends, and the memory shared with
 * it. A lost executor is replaced by a new one with fresh rings.
 */
export class ExecutorSeat implements WatchedThread, StampedThread {
  readonly id: number;
  readonly link: ExecutorLink;
  /** Resolves, and never rejects, when the loop has ended for whatever reason. */
  readonly ended: Promise<void>;
  readonly #port: MessagePort;
  readonly #outbox: Outbox<MainToExecutor>;
  readonly #listener: SeatListener;
  readonly #loop: ThreadLoop;
  #isStopping = false;
  #isTerminated = false;

  constructor(id: number, threads: Threads, options: SeatOptions, listener: SeatListener) {
    const { port1, port2 } = new MessageChannel();
    const header = options.headers[id]!;
    this.id = id;
    this.link = {
      runs: RecordRing.create(RUN_WORDS, RUN_RING_RECORDS).memory,
      completions: RecordRing.create(DONE_WORDS, QUEUE_SLOTS).memory,
      claims: new Int32Array(new SharedArrayBuffer(QUEUE_SLOTS * Int32Array.BYTES_PER_ELEMENT)),
      released: new Int32Array(new SharedArrayBuffer(QUEUE_SLOTS * Int32Array.BYTES_PER_ELEMENT)),
      header,
      waiting: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
      running: new Int32Array(new SharedArrayBuffer(6 * Int32Array.BYTES_PER_ELEMENT)).fill(NO_PLAN, 0, 4),
      loading: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(NO_PLAN),
    };
    this.#port = port1;
    this.#listener = listener;
    this.#outbox = new Outbox({ port: port1, header });
    port1.on("message", (message: ExecutorToMain) => this.#receive(message));
    // The scheduler's port keeps the process alive while a run is under way.
    port1.unref();
    const task: ExecutorLoopTask = {
      ...options,
      executor: id,
      link: this.link,
      mailbox: { port: port2, header },
    };
    this.#loop = threads.runLoop("./executor", "beginExecutor", task);
    this.ended = this.#loop.ended.then(
      () => this.#end(new Error("the executor returned")),
      (error: Error) => this.#end(error),
    );
  }

  /** The plan that a lost executor was loading, unless the pool ended it: the cause of the loss. */
  get lostPlan(): number | null {
    const plan = Atomics.load(this.link.loading, 0);
    return plan === NO_PLAN || this.#isTerminated ? null : plan;
  }

  get turn(): number {
    return Atomics.load(this.link.running, 4);
  }

  get running(): { readonly plan: number; readonly node: number; readonly part: number } {
    const [plan, node, part] = [0, 2, 3].map((word) => Atomics.load(this.link.running, word));
    return { plan: plan!, node: node!, part: part! };
  }

  /** True if the executor runs a part of such a block of the plan. */
  runsPartOf(plan: number, isSuch: (block: number) => boolean): boolean {
    const { running } = this.link;
    return this.turn % 2 !== 0 && Atomics.load(running, 0) === plan && isSuch(Atomics.load(running, 1));
  }

  post(message: MainToExecutor): void {
    this.#outbox.post(message);
  }

  /** Takes the executor's posted messages that the event loop has not delivered. */
  readMail(): void {
    for (let mail = receiveMessageOnPort(this.#port); mail; mail = receiveMessageOnPort(this.#port)) {
      this.#receive(mail.message as ExecutorToMain);
    }
  }

  /** Asks the loop to return once it has nothing to run. */
  stop(): void {
    this.#isStopping = true;
    this.post({ kind: "stop" });
  }

  /** Ends the thread at once; the listener is notified of the loss. */
  terminate(): void {
    this.#isTerminated = true;
    this.#loop.terminate();
  }

  heapBytes(): Promise<number | null> {
    return this.#loop.heapBytes();
  }

  /** Ends the thread because of what it runs or loads, which has filled its heap. */
  endForHeap(): void {
    this.#loop.terminate();
  }

  #receive(message: ExecutorToMain): void {
    if (message.kind === "hello") this.#listener.onHello(this);
    else this.#listener.onPartFailure(message.plan, message.block, message.node, message.failure);
  }

  #end(error: Error): void {
    this.readMail();
    this.#port.close();
    if (!this.#isStopping) this.#listener.onLoss(this, error);
  }
}
