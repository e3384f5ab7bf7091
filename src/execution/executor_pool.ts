import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { ResourceError } from "../errors.ts";
import { CallNumbers, type CallOrder, type PlanOrder } from "../schedule/call_order.ts";
import type { SchedulerOptions } from "../schedule/scheduler.ts";
import { ExecutorMeter, type ExecutorMetrics } from "./executor_metrics.ts";
import { ExecutorSeat, type SeatListener } from "./executor_seat.ts";
import type { OpenPlan } from "./open_plan.ts";
import { type PlanHost, PlanRecord } from "./plan_record.ts";
import type {
  MainToScheduler,
  PlanData,
  SchedulerLoopTask,
  SchedulerToMain,
  SeatOptions,
} from "./protocol.ts";
import { settlesWithin } from "./settles_within.ts";
import { createMailboxHeader, Outbox, resetMailbox, sleepsOf } from "./shared/mailbox.ts";
import { executorSpinNs, SPIN_NS_DEFAULT } from "./shared/rings.ts";
import { siblingModule, ThreadRefused, Threads } from "./thread_loops.ts";
import { createTimeSums, type ThreadTimes, timesOf } from "./times/thread_times.ts";
import type { TraceSink } from "./trace/trace_events.ts";
import { TraceFeed } from "./trace/trace_feed.ts";
import { collectGarbage } from "./watch/garbage.ts";
import { type HangOptions, HangWatch, type StampedThread } from "./watch/hang_watch.ts";
import { HeapWatch } from "./watch/heap_watch.ts";

export type { OpenPlan } from "./open_plan.ts";
export type { PlanData } from "./protocol.ts";
export { OVERLAPPING_BLOCKS_MAX } from "./shared/block_slots.ts";

/** Longest time for which `close` waits for running parts before it ends their threads. */
const CLOSE_GRACE_MS = 200;
/** The same for the scheduler, which runs no code of users; it has the end of the trace. */
const CLOSE_GRACE_MS_SCHEDULER = 10_000;

/**
 * Executors lost in succession before they begin a part or load a plan, with no run ended in between, before the pool
 * gives up. Other losses have a cause that ends them: a part or a plan that loses two threads fails its run.
 */
const BARREN_LOSSES_MAX = 8;

export interface PoolOptions {
  /** Executor threads; the scheduler has one more. */
  readonly threads: number;
  /** Module that exports `openRunner`; default: it runs the kernels of the plan. */
  readonly runnerUrl?: string | URL;
  readonly schedule?: Pick<SchedulerOptions, "queueNs" | "isStealing" | "isRunningAhead">;
  /** Longest time for which threads spin before they sleep, in ns. */
  readonly spinNs?: number;
  /** Cores for them; default: those that this process may use. */
  readonly cores?: number | undefined;
  /** Largest JavaScript heap of a thread in MiB; a thread that exceeds it is replaced. Default: Node's limit. */
  readonly heapMebibytesMax?: number;
  /** What to do about parts that hang; false: nothing. */
  readonly hang?: HangOptions | false | undefined;
  /** Receives a trace of the threads; without it nothing is recorded. */
  readonly trace?: TraceSink | undefined;
  /** Whether it notes what the time of its threads goes to (`ExecutorPool.times`). Default false. */
  readonly notesTimes?: boolean | undefined;
  /**
   * The number of the first call, and of the first run of each plan. Numbers wrap around: tests start just before that.
   */
  readonly firstNumber?: number;
}

/**
 * Threads that evaluate plans: executors and a scheduler, hosted by Piscina. The main thread only posts and receives
 * messages and never blocks. The threads keep the process alive while they start and while a run is under way; idle
 * threads do not.
 */
export class ExecutorPool {
  readonly #threads: Threads;
  readonly #seatOptions: SeatOptions;
  readonly #seatListener: SeatListener = {
    onHello: (seat) => this.#welcome(seat),
    onPartFailure: (plan, ...failure) => this.#plans.get(plan)?.noteFailure(...failure),
    onLoss: (seat, error) => this.#replace(seat, error),
  };
  readonly #planHost: PlanHost = {
    tellScheduler: (message) => this.#scheduler.post(message),
    noteRun: (plan) => {
      this.#holdProcess();
      this.#hangWatch?.begin();
      if (plan.hasUserOperators) this.#heapWatch?.begin();
      const { call = this.#callNumbers.begin(plan), priority } = plan.order;
      return { call, priority };
    },
    noteEnd: (plan) => {
      this.#letProcessGo();
      this.#callNumbers.end(plan);
      this.#hangWatch?.end();
      if (plan.hasUserOperators) this.#heapWatch?.end();
    },
    readFailures: () => {
      for (const seat of this.#ready) seat.readMail();
    },
    endParts: (plan, isUnneeded) => this.#endParts(plan, isUnneeded),
    release: (plan) => this.#release(plan),
  };
  readonly #trace: TraceFeed | null;
  readonly #heapWatch: HeapWatch | null;
  readonly #hangWatch: HangWatch | null;
  readonly #timeSums: Float64Array<SharedArrayBuffer> | null;
  readonly #schedulerHeader: Int32Array<SharedArrayBuffer>;
  readonly #schedulerPort: MessagePort;
  readonly #scheduler: Outbox<MainToScheduler>;
  readonly #schedulerEnded: Promise<void>;
  readonly #seats: ExecutorSeat[];
  /** Executors that have reported their start: they have every open plan. */
  readonly #ready = new Set<ExecutorSeat>();
  readonly #plans = new Map<number, PlanRecord>();
  readonly #started = Promise.withResolvers<void>();
  #hasStarted = false;
  #schedulerIsReady = false;
  #nextPlan = 0;
  readonly #firstNumber: number;
  readonly #callNumbers: CallNumbers;
  #barrenLosses = 0;
  readonly #meter = new ExecutorMeter();
  /** Number of pending operations: the start, and runs under way. */
  #waitCount = 0;
  /** Why nothing can run any more. */
  #failure: Error | null = null;
  #closed: Promise<void> | null = null;

  /**
   * Starts the threads and waits until each has loaded its code.
   *
   * @throws ResourceError E403 if the threads do not start.
   */
  static async start(options: PoolOptions): Promise<ExecutorPool> {
    const pool = new ExecutorPool(options);
    try {
      await pool.#started.promise;
      return pool;
    } catch (error) {
      await pool.close();
      throw error;
    } finally {
      pool.#letProcessGo();
    }
  }

  private constructor(options: PoolOptions) {
    const { threads, runnerUrl, schedule = {}, spinNs = SPIN_NS_DEFAULT } = options;
    const { cores = availableParallelism() } = options;
    const header = createMailboxHeader();
    const { port1, port2 } = new MessageChannel();
    const waitingCount = sharedWord();
    const unheard = sharedWord();
    this.#seatOptions = {
      runnerUrl: String(runnerUrl ?? siblingModule("./part_runner")),
      schedulerHeader: header,
      headers: Array.from({ length: threads }, createMailboxHeader),
      sleeping: new Int32Array(new SharedArrayBuffer(4 * Math.ceil(threads / 32))),
      waitingCount,
      unheard,
      spinNs: executorSpinNs(threads, cores, spinNs),
    };
    const { heapMebibytesMax } = options;
    this.#threads = new Threads(heapMebibytesMax);
    this.#heapWatch =
      heapMebibytesMax === undefined ? null : new HeapWatch(heapMebibytesMax * 2 ** 20, () => this.#ready);
    const describe = ({ running }: StampedThread) =>
      this.#plans.get(running.plan)?.describe(running.node) ?? null;
    this.#hangWatch =
      options.hang === false ? null : new HangWatch(options.hang ?? {}, () => this.#ready, describe);
    this.#firstNumber = options.firstNumber ?? 0;
    this.#callNumbers = new CallNumbers(this.#firstNumber);
    this.#trace = options.trace ? new TraceFeed(options.trace, threads) : null;
    this.#timeSums = options.notesTimes ? createTimeSums() : null;
    this.#schedulerHeader = header;
    this.#schedulerPort = port1;
    this.#scheduler = new Outbox({ port: port1, header });
    port1.on("message", (message: SchedulerToMain) => this.#receive(message));
    this.#holdProcess();
    this.#schedulerEnded = this.#runScheduler({
      mailbox: { port: port2, header },
      options: schedule,
      waitingCount,
      unheard,
      spinNs,
      cores,
      traceTaken: this.#trace?.taken ?? null,
      timeSums: this.#timeSums,
    });
    this.#seats = Array.from({ length: threads }, (_, id) => this.#newSeat(id));
  }

  /**
   * Opens a plan: every executor loads it once, also executors that join later. Plans may overlap: parts of calls of
   * higher priority go first, then those of earlier calls.
   *
   * @param order the call of its runs (`nextCall`), or their priority alone: each run is then a call of its own
   * @throws ResourceError E403 if the threads are lost, E404 if the pool is closed; InternalError if the data does not
   *   fit the plan.
   */
  async open(data: PlanData, order: PlanOrder = this.nextCall()): Promise<OpenPlan> {
    if (this.#failure) throw this.#failure;
    const plan = new PlanRecord(this.#nextPlan++, data, order, this.#planHost, this.#firstNumber);
    const load = plan.loadMessage();
    this.#trace?.noteOpened(plan.id, data.plan);
    // Posted to every executor before the scheduler, so that no part arrives before its plan.
    for (const seat of this.#ready) seat.post(load);
    this.#scheduler.post(plan.openMessage());
    this.#plans.set(plan.id, plan);
    return plan;
  }

  /** True if its threads are lost or ended: nothing can run any more. */
  get isLost(): boolean {
    return this.#failure !== null;
  }

  /** What its executors do, and have done so far. */
  get metrics(): ExecutorMetrics {
    const count = this.#failure ? 0 : this.#ready.size;
    const hangs = this.#hangWatch?.hangCount ?? null;
    return this.#meter.metrics(count, this.#seats.length, this.#plans.values(), hangs);
  }

  /** What the time of its threads went to so far; null unless `notesTimes`. */
  get times(): ThreadTimes | null {
    if (!this.#timeSums) return null;
    const headers = [this.#schedulerHeader, ...this.#seats.map(({ link }) => link.header)];
    return timesOf(
      this.#timeSums,
      headers.reduce((sum, header) => sum + sleepsOf(header), 0),
    );
  }

  /** The order of a new call: behind those of the same priority so far. */
  nextCall(priority = 0): CallOrder {
    return { priority, call: this.#callNumbers.next() };
  }

  /** True if no run is under way. */
  get isIdle(): boolean {
    return this.#waitCount === 0;
  }

  /** Makes all threads give back the memory of closed plans, also this one. */
  collectGarbage(): void {
    for (const seat of this.#ready) seat.post({ kind: "collect" });
    collectGarbage();
  }

  /** True if a plan of higher priority is open. */
  hasMoreUrgent({ priority = 0 }: PlanOrder): boolean {
    for (const plan of this.#plans.values()) if ((plan.order.priority ?? 0) > priority) return true;
    return false;
  }

  /** Ends an executor's thread at once; another one takes its place and runs its parts again. */
  restartExecutor(executor: number): void {
    this.#seats[executor]!.terminate();
  }

  /**
   * Ends all threads; runs under way are rejected with ResourceError E404. May be called twice.
   *
   * @throws what the trace's sink threw.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#giveUp(engineClosed());
    this.#hangWatch?.close();
    for (const seat of this.#seats) seat.stop();
    this.#scheduler.post({ kind: "stop" });
    await settlesWithin(Promise.all(this.#seats.map((seat) => seat.ended)), CLOSE_GRACE_MS);
    await settlesWithin(this.#schedulerEnded, CLOSE_GRACE_MS_SCHEDULER);
    await this.#threads.destroy();
    this.#readMail();
    this.#schedulerPort.close();
    await this.#trace?.finish();
  }

  /** Takes the scheduler's posted messages that the event loop has not delivered, such as the end of the trace. */
  #readMail(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.#schedulerPort);
      if (!received) return;
      this.#receive(received.message as SchedulerToMain);
    }
  }

  async #runScheduler(task: SchedulerLoopTask): Promise<void> {
    try {
      await this.#threads.runLoop("./scheduler_thread", "beginScheduler", task).ended;
      this.#fail("the scheduler returned", null);
    } catch (error) {
      const isRefused = error instanceof ThreadRefused;
      this.#fail(isRefused ? "the system refuses another thread" : "the scheduler was lost", error);
    }
  }

  #newSeat(id: number): ExecutorSeat {
    return new ExecutorSeat(id, this.#threads, this.#seatOptions, this.#seatListener);
  }

  #welcome(seat: ExecutorSeat): void {
    for (const plan of this.#plans.values()) seat.post(plan.loadMessage());
    this.#ready.add(seat);
    this.#scheduler.post({ kind: "joined", executor: seat.id, link: seat.link });
    this.#noteReady();
  }

  #noteReady(): void {
    if (!this.#schedulerIsReady || this.#ready.size < this.#seats.length) return;
    this.#hasStarted = true;
    this.#started.resolve();
  }

  #replace(seat: ExecutorSeat, error: Error): void {
    this.#ready.delete(seat);
    this.#meter.noteLost();
    const { lostPlan } = seat;
    // If a plan ended the thread, the new executor may be the last to load it.
    if (lostPlan !== null) this.#plans.get(lostPlan)?.noteLostLoad();
    else this.#barrenLosses = seat.turn === 0 ? this.#barrenLosses + 1 : 0;
    this.#scheduler.post({ kind: "fault", executor: seat.id });
    if (error instanceof ThreadRefused) this.#fail("the system refuses another thread", error);
    else if (!this.#hasStarted) this.#fail("an executor did not start", error);
    else if (this.#barrenLosses > BARREN_LOSSES_MAX)
      this.#fail("executors are lost as soon as they start", error);
    resetMailbox(seat.link.header);
    if (!this.#failure) this.#seats[seat.id] = this.#newSeat(seat.id);
  }

  #receive(message: SchedulerToMain): void {
    if (message.kind === "hello") {
      this.#schedulerIsReady = true;
      this.#noteReady();
      return;
    }
    if (message.kind === "trace") {
      this.#trace?.take(message.records);
      return;
    }
    this.#barrenLosses = 0;
    if (message.kind === "lost") this.#plans.get(message.plan)?.noteLoss(message);
    else this.#plans.get(message.plan)?.endRun(message);
  }

  /** Keeps the process alive until the scheduler reports. */
  #holdProcess(): void {
    if (this.#waitCount++ === 0) this.#schedulerPort.ref();
  }

  #letProcessGo(): void {
    if (--this.#waitCount === 0) this.#schedulerPort.unref();
  }

  /** Ends threads that run parts of unneeded blocks of the plan; their other parts run again. */
  #endParts(plan: PlanRecord, isUnneeded: (block: number) => boolean): void {
    for (const seat of this.#ready) if (seat.runsPartOf(plan.id, isUnneeded)) seat.terminate();
  }

  #release(plan: PlanRecord): void {
    if (!this.#plans.delete(plan.id)) return;
    this.#meter.noteClosed(plan);
    for (const seat of this.#ready) seat.post({ kind: "release", id: plan.id });
    this.#scheduler.post({ kind: "closed", plan: plan.id });
  }

  #fail(what: string, cause: unknown): void {
    const text = cause instanceof Error ? `${what}: ${cause.message}` : what;
    const remedy = "close this engine and start another one, with fewer threads if memory is short";
    this.#giveUp(new ResourceError("E403", text, remedy, { cause }));
  }

  /** Rejects all current and future runs; the first reason counts. */
  #giveUp(reason: Error): void {
    if (this.#failure) return;
    this.#failure = reason;
    this.#started.reject(reason);
    for (const plan of this.#plans.values()) {
      plan.abandon(reason);
      this.#meter.noteClosed(plan);
    }
    this.#plans.clear();
  }
}

function sharedWord(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** E404 for what was under way. */
export function engineClosed(): ResourceError {
  const remedy = "await what is under way before closing, or start another engine";
  return new ResourceError("E404", "the engine was closed", remedy);
}
