import type { Instruction, PartId, RunInstruction, SchedulerEvent } from "../../schedule/events.ts";
import { QUEUE_SLOTS } from "../../schedule/executor_queue.ts";
import type { CarryOut, Scheduler } from "../../schedule/scheduler.ts";
import { nsOf, PART_STATUS, startMsOf } from "../protocol.ts";
import { traceNowMs } from "./trace_events.ts";
import { TRACE_RECORD, TRACE_RECORD_NUMBERS } from "./trace_records.ts";

/** Records of a full batch; the end of a run sends a smaller one. */
const BATCH_RECORDS = 4096;

/** Most records that wait in the main thread for a slow sink: some 20 MiB. */
const WAITING_RECORDS_MAX = 2 ** 18;

/** Words kept of each part of an executor: plan, block, node, part, victim of the steal or -1. */
const SLOT_WORDS = 5;
const SLOT_MASK = QUEUE_SLOTS - 1;

interface TracedQueue {
  readonly words: Int32Array;
  readonly stolenAtMs: Float64Array;
  partCount: number;
}

interface Theft {
  readonly part: PartId;
  readonly victim: number;
  readonly atMs: number;
}

/** Sends rows of `trace_records.ts`; the sender does not use the array again. */
export type SendRecords = (records: Float64Array<ArrayBuffer>) => void;

/** The scheduler's side of a trace: records what its thread sees, and sends it in batches. */
export class TraceRecorder {
  /** Number of records that the sink has taken; written by the main thread. */
  readonly #taken: Int32Array;
  readonly #send: SendRecords;
  readonly #queues = new Map<number, TracedQueue>();
  /** Parts that were stolen and not handed out again. */
  readonly #thefts = new Map<string, Theft>();
  /** Has space for one more record: the number of dropped ones. */
  readonly #records = new Float64Array((BATCH_RECORDS + 1) * TRACE_RECORD_NUMBERS);
  #count = 0;
  #sentCount = 0;
  #droppedCount = 0;

  constructor(taken: Int32Array, send: SendRecords) {
    this.#taken = taken;
    this.#send = send;
  }

  /** Traces `scheduler.handleAll`. All records of a run are sent before its end is reported. */
  handleAll(scheduler: Scheduler, events: readonly SchedulerEvent[], carryOut: CarryOut): void {
    this.#timed(scheduler, events, (list) => scheduler.handleAll(events, list), carryOut);
  }

  /** Traces `scheduler.runAhead`. */
  runAhead(scheduler: Scheduler, carryOut: CarryOut): void {
    this.#timed(scheduler, [], (list) => scheduler.runAhead(list), carryOut);
  }

  /** Instructions are carried out once all are decided, so that the trace has the scheduler's time alone. */
  #timed(
    scheduler: Scheduler,
    events: readonly SchedulerEvent[],
    decide: (list: CarryOut) => void,
    carryOut: CarryOut,
  ): void {
    const instructions: Instruction[] = [];
    const startMs = traceNowMs();
    const startedAt = performance.now();
    decide((instruction) => instructions.push(instruction));
    if (events.length + instructions.length === 0) return;
    const ns = Math.round((performance.now() - startedAt) * 1e6);
    this.#add(TRACE_RECORD.scheduled, startMs, ns, events.length, instructions.length, scheduler.readyCount);
    for (const event of events) if (event.kind === "joined") this.#noteJoined(event.executor);
    const endMs = startMs + ns / 1e6;
    for (const [executor, queue] of this.#queues) this.#noteQueue(scheduler, executor, queue, endMs);
    for (const instruction of instructions) {
      if (instruction.kind === "finished") this.#flush();
    }
    for (const instruction of instructions) carryOut(instruction);
  }

  noteQueued({ executor, ticket, plan, block, node, part }: RunInstruction): void {
    const { words, stolenAtMs } = this.#queues.get(executor)!;
    const slot = ticket & SLOT_MASK;
    const theft = this.#takeTheft({ plan, block, node, part });
    words.set([plan, block, node, part, theft?.victim ?? -1], slot * SLOT_WORDS);
    stolenAtMs[slot] = theft?.atMs ?? 0;
  }

  noteStolen(executor: number, ticket: number): void {
    const { words } = this.#queues.get(executor)!;
    const first = (ticket & SLOT_MASK) * SLOT_WORDS;
    const [plan, block, node, part] = words.subarray(first, first + SLOT_WORDS - 1);
    const id: PartId = { plan: plan!, block: block!, node: node!, part: part! };
    this.#thefts.set(keyOf(id), { part: id, victim: executor, atMs: traceNowMs() });
  }

  /** An executor has run a part: its record of `packDone`. */
  noteDone(executor: number, completed: Int32Array, offset: number): void {
    const { words, stolenAtMs } = this.#queues.get(executor)!;
    const slot = completed[offset + 1]! & SLOT_MASK;
    const first = slot * SLOT_WORDS;
    this.#add(
      TRACE_RECORD.part,
      startMsOf(completed, offset),
      nsOf(completed, offset),
      executor,
      words[first]!,
      words[first + 1]!,
      words[first + 2]!,
      words[first + 3]!,
      completed[offset] === PART_STATUS.failed ? 1 : 0,
      words[first + 4]!,
      stolenAtMs[slot]!,
    );
  }

  /** Sends the remaining records, even beyond the bound. */
  close(): void {
    this.#sendAll();
  }

  /** A replacement of a lost executor keeps its queue. */
  #noteJoined(executor: number): void {
    if (this.#queues.has(executor)) return;
    this.#queues.set(executor, {
      words: new Int32Array(QUEUE_SLOTS * SLOT_WORDS),
      stolenAtMs: new Float64Array(QUEUE_SLOTS),
      partCount: 0,
    });
  }

  #noteQueue(scheduler: Scheduler, executor: number, queue: TracedQueue, atMs: number): void {
    const partCount = scheduler.queuedCount(executor);
    if (partCount === queue.partCount) return;
    queue.partCount = partCount;
    this.#add(TRACE_RECORD.queue, atMs, executor, partCount);
  }

  #takeTheft(part: PartId): Theft | undefined {
    if (this.#thefts.size === 0) return undefined;
    const key = keyOf(part);
    const theft = this.#thefts.get(key);
    this.#thefts.delete(key);
    return theft;
  }

  #add(...numbers: number[]): void {
    if (this.#count === BATCH_RECORDS) this.#flush();
    this.#put(numbers);
  }

  #put(numbers: readonly number[]): void {
    this.#records.set(numbers, this.#count * TRACE_RECORD_NUMBERS);
    this.#count++;
  }

  /** The evaluation does not wait for its trace: records beyond the bound are dropped. */
  #flush(): void {
    const waitingCount = (this.#sentCount - Atomics.load(this.#taken, 0)) | 0;
    if (waitingCount >= WAITING_RECORDS_MAX) {
      this.#droppedCount += this.#count;
      this.#count = 0;
    } else this.#sendAll();
  }

  #sendAll(): void {
    if (this.#droppedCount > 0) this.#put([TRACE_RECORD.dropped, traceNowMs(), this.#droppedCount]);
    this.#droppedCount = 0;
    if (this.#count === 0) return;
    this.#send(this.#records.slice(0, this.#count * TRACE_RECORD_NUMBERS));
    this.#sentCount = (this.#sentCount + this.#count) | 0;
    this.#count = 0;
  }
}

function keyOf({ plan, block, node, part }: PartId): string {
  return `${plan} ${block} ${node} ${part}`;
}
