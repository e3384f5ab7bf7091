import { expect, test } from "vitest";
import { PendingParts } from "../../src/execution/pending_parts.ts";
import { RUN_WORD, RUN_WORDS } from "../../src/execution/protocol.ts";
import { RecordRing } from "../../src/execution/rings.ts";

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
