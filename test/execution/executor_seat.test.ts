import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ExecutorSeat } from "../../src/execution/executor_seat.ts";
import {
  createBlockWords,
  createNodeStarts,
  DONE_WORDS,
  type LoadMessage,
  type MainToExecutor,
  PART_STATUS,
  type PlanData,
  RUN_WORD,
  RUN_WORDS,
  writeBlock,
} from "../../src/execution/protocol.ts";
import { createMailboxHeader, mailboxSignal } from "../../src/execution/shared/mailbox.ts";
import { NodeMarks } from "../../src/execution/shared/node_marks.ts";
import { RecordRing } from "../../src/execution/shared/rings.ts";
import { Threads } from "../../src/execution/thread_loops.ts";
import { fileFolder } from "../support/file_folder.ts";
import { blockAt, dataOf, smallPlan } from "./small_plan.ts";

/** One executor, whose scheduler and main thread are the test. */
let threads: Threads;
let seat: ExecutorSeat;
let losses: Error[];

beforeEach(async () => {
  const hello = Promise.withResolvers<void>();
  losses = [];
  threads = new Threads(undefined);
  const runnerUrl = new URL("./fixtures/runner.ts", import.meta.url);
  runnerUrl.searchParams.set("folder", fileFolder());
  const word = () => new Int32Array(new SharedArrayBuffer(4));
  seat = new ExecutorSeat(
    0,
    threads,
    {
      runnerUrl: runnerUrl.href,
      schedulerHeader: createMailboxHeader(),
      headers: [createMailboxHeader()],
      sleeping: word(),
      waitingCount: word(),
      unheard: word(),
      spinNs: 0,
    },
    {
      onHello: () => hello.resolve(),
      onPartFailure: (_, __, ___, failure) => losses.push(new Error(failure.text)),
      onLoss: (_, error) => losses.push(error),
    },
  );
  // Nothing else keeps the process alive: the port of a seat does not.
  const timer = setInterval(() => {}, 1000);
  await hello.promise;
  clearInterval(timer);
});

afterEach(async () => {
  seat.stop();
  await threads.destroy();
});

function loadOf(id: number, data: PlanData): LoadMessage {
  const nodeCount = data.plan.nodes.length;
  const blockWords = createBlockWords();
  writeBlock(blockWords, 0, {
    ...blockAt(0, data.plan.blockRows),
    firstRow: 0,
    generation: 0,
    hasStarts: false,
  });
  const marks = NodeMarks.create(data.plan.nodes, 0).words;
  return {
    kind: "load",
    id,
    blockWords,
    starts: createNodeStarts(nodeCount),
    marks,
    isLoadable: true,
    ...data,
  };
}

interface QueuedPart {
  readonly ticket: number;
  readonly plan: number;
  readonly node: number;
  readonly priority: number;
  readonly isAhead?: boolean;
}

function queue({ ticket, plan, node, priority, isAhead = false }: QueuedPart): void {
  const record = new Int32Array(RUN_WORDS);
  record.set([ticket, plan, 0, node]);
  record[RUN_WORD.priority] = priority;
  record[RUN_WORD.isAhead] = isAhead ? 1 : 0;
  Atomics.store(seat.link.claims, ticket, ticket + 1);
  new RecordRing(seat.link.runs).push(record);
  mailboxSignal(seat.link.header).raise();
}

/** The tickets and outcomes of the next `count` parts. */
async function nextDone(count: number): Promise<{ ticket: number; status: number }[]> {
  const ring = new RecordRing(seat.link.completions);
  const words = new Int32Array(ring.capacity * DONE_WORDS);
  const done: { ticket: number; status: number }[] = [];
  while (done.length < count && losses.length === 0) {
    const drained = ring.drain(words);
    for (let at = 0; at < drained * DONE_WORDS; at += DONE_WORDS)
      done.push({ ticket: words[at + 1]!, status: words[at]! });
    await delay(1);
  }
  expect(losses).toEqual([]);
  return done;
}

const done = (ticket: number) => ({ ticket, status: PART_STATUS.done });

/** `a` adds one to a field once the test says so, `b` adds one to that. */
const waiting = smallPlan({ a: { operator: "wait", reads: ["x"] } }, 1, 1);
const chain = smallPlan(
  {
    a: { operator: "add_one", reads: ["x"] },
    b: { operator: "add_one", reads: ["a"], isOutput: true },
  },
  1,
  1,
);

test("a plan whose parts come while one of another plan runs is loaded before they are looked at", async () => {
  seat.post(loadOf(7, dataOf(waiting)));
  queue({ ticket: 0, plan: 7, node: 0, priority: 0 });
  expect(await nextDone(1)).toEqual([done(0)]);
  queue({ ticket: 1, plan: 7, node: 1, priority: 1 });
  // What waits behind it is less urgent: the executor looks for more of a high priority in between.
  queue({ ticket: 2, plan: 7, node: 0, priority: 0 });
  while (!existsSync(join(fileFolder(), "started"))) await delay(1);
  seat.post(loadOf(8, dataOf(chain)));
  queue({ ticket: 3, plan: 8, node: 1, priority: 1, isAhead: true });
  queue({ ticket: 4, plan: 8, node: 0, priority: 1 });
  writeFileSync(join(fileFolder(), "go"), "");
  expect(await nextDone(4)).toEqual([1, 4, 3, 2].map(done));
});

test("a thread whose messages cannot be taken runs no part", async () => {
  seat.post(loadOf(7, dataOf(chain)));
  queue({ ticket: 0, plan: 7, node: 0, priority: 0 });
  expect(await nextDone(1)).toEqual([done(0)]);
  // As Node does to a thread that is being ended.
  seat.post(undefined as unknown as MainToExecutor);
  queue({ ticket: 1, plan: 8, node: 0, priority: 0 });
  while (losses.length === 0) await delay(1);
  expect(losses.map(({ message }) => message)).toEqual([
    "the thread is being ended: its messages cannot be taken",
  ]);
  expect(new RecordRing(seat.link.completions).waitingCount).toBe(0);
});
