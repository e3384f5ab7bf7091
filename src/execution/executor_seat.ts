import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { createMailboxHeader, Outbox } from "./mailbox.ts";
import type { PartFailure } from "./plan_failures.ts";
import {
  DONE_WORDS,
  type ExecutorLink,
  type ExecutorTask,
  type ExecutorToMain,
  type MainToExecutor,
  RUN_WORDS,
} from "./protocol.ts";
import { Ring } from "./rings.ts";
import type { Threads } from "./threads.ts";

/** What every executor of a pool is started with. */
export interface SeatOptions {
  readonly runnerUrl: string;
  readonly schedulerHeader: Int32Array<SharedArrayBuffer>;
  /** Parts that the scheduler queues at most. */
  readonly queueParts: number;
}

/** What the pool wants to hear of an executor. */
export interface SeatListener {
  /** The executor is there and may be given work. */
  onHello(seat: ExecutorSeat): void;
  /** A kernel threw, or the plan could not be loaded. */
  onPartFailure(plan: number, failure: PartFailure): void;
  /** The loop ended without being told to: the thread exited, ran out of memory, or threw. */
  onLoss(seat: ExecutorSeat, error: Error): void;
}

/**
 * The main thread's side of one executor: its thread's never-ending Piscina task and the memory shared with it.
 * A lost executor leaves its seat to a new one with fresh rings.
 */
export class ExecutorSeat {
  readonly id: number;
  readonly link: ExecutorLink;
  /** Settles, never rejects, when the loop has ended for whatever reason. */
  readonly ended: Promise<void>;
  readonly #port: MessagePort;
  readonly #outbox: Outbox<MainToExecutor>;
  readonly #listener: SeatListener;
  #isStopping = false;

  constructor(id: number, threads: Threads, options: SeatOptions, listener: SeatListener) {
    const { port1, port2 } = new MessageChannel();
    const header = createMailboxHeader();
    this.id = id;
    this.link = {
      runs: Ring.create(RUN_WORDS, options.queueParts).memory,
      completions: Ring.create(DONE_WORDS, options.queueParts).memory,
      header,
      running: new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT)).fill(-1),
    };
    this.#port = port1;
    this.#listener = listener;
    this.#outbox = new Outbox({ port: port1, header });
    port1.on("message", (message: ExecutorToMain) => this.#receive(message));
    const { runnerUrl, schedulerHeader } = options;
    const task: ExecutorTask = {
      executor: id,
      runnerUrl,
      schedulerHeader,
      link: this.link,
      mailbox: { port: port2, header },
    };
    this.ended = threads.runLoop("executor", "runExecutor", task).then(
      () => this.#end(new Error("the executor returned")),
      (error: Error) => this.#end(error),
    );
  }

  /** True if this executor ever ran a part to its end. */
  get hasCompletedParts(): boolean {
    return new Ring(this.link.completions).pushedCount > 0;
  }

  post(message: MainToExecutor): void {
    this.#outbox.post(message);
  }

  /** Takes what the executor has posted and the event loop has not delivered yet. */
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

  #receive(message: ExecutorToMain): void {
    if (message.kind === "hello") this.#listener.onHello(this);
    else this.#listener.onPartFailure(message.plan, message.failure);
  }

  #end(error: Error): void {
    this.readMail();
    this.#port.close();
    if (!this.#isStopping) this.#listener.onLoss(this, error);
  }
}
