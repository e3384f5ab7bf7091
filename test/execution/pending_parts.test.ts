import { expect, test } from "vitest";
import { PendingParts } from "../../src/execution/pending_parts.ts";
import { RUN_WORD, RUN_WORDS } from "../../src/execution/protocol.ts";
import { RecordRing } from "../../src/execution/shared/rings.ts";
import { QUEUE_SLOTS } from "../../src/schedule/executor_queue.ts";

/** Queues parts that are handed out ahead of their inputs, with their tickets as slots. */
function partsAhead(tickets: readonly number[]): PendingParts {
  const ring = RecordRing.create(RUN_WORDS, tickets.length);
  for (const ticket of tickets) {
    const record = new Int32Array(RUN_WORDS);
    record[0] = ticket;
    record[RUN_WORD.isAhead] = 1;
    ring.push(record);
  }
  const parts = new PendingParts(ring);
  parts.drain();
  return parts;
}

test("an open part is seen among closed ones, and run before them", () => {
  const parts = partsAhead([0, 1, 2]);
  const isOpen = (record: number) => parts.words[record] === 1;
  expect(parts.has(() => false)).toBe(false);
  expect(parts.takeFirst(() => false)).toBe(-1);
  expect(parts.has(isOpen)).toBe(true);
  expect(parts.words[parts.takeFirst(isOpen)]).toBe(1);
  expect(parts.has(isOpen)).toBe(false);
  expect(parts.count).toBe(2);
});

test("parts go by priority, then by call, then by weight; a refilled slot has the place of its new part", () => {
  const ring = RecordRing.create(RUN_WORDS, 8);
  const weights = new Float32Array(1);
  const put = (slot: number, turn: number, priority: number, call: number, weight: number) => {
    const record = new Int32Array(RUN_WORDS);
    record[0] = slot + turn * QUEUE_SLOTS;
    record[RUN_WORD.call] = call;
    record[RUN_WORD.priority] = priority;
    weights[0] = weight;
    record[RUN_WORD.weight] = new Int32Array(weights.buffer)[0]!;
    ring.push(record);
  };
  put(0, 0, 0, 1, 9);
  put(1, 0, 0, 1, 5);
  put(2, 0, 1, 7, 1);
  put(3, 0, 0, 2, 99);
  const parts = new PendingParts(ring);
  parts.drain();
  // The first part was stolen; its slot now holds the lightest part of the last call.
  put(0, 1, 0, 3, 0);
  parts.drain();
  const order: number[] = [];
  for (let at = parts.takeFirst(() => true); at >= 0; at = parts.takeFirst(() => true))
    order.push(parts.words[at]!);
  expect(order).toEqual([2, 1, 3, QUEUE_SLOTS]);
});
