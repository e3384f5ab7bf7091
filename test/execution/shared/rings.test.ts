import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { InternalError } from "../../../src/errors.ts";
import { RecordRing, Signal } from "../../../src/execution/shared/rings.ts";

describe("RecordRing", () => {
  test("gives records back in order, all at once", () => {
    const ring = RecordRing.create(2, 4);
    const target = new Int32Array(8);
    expect(ring.drain(target)).toBe(0);
    ring.push([1, -1]);
    ring.push([2, -2]);
    expect(ring.drain(target)).toBe(2);
    expect([...target.subarray(0, 4)]).toEqual([1, -1, 2, -2]);
    expect(ring.drain(target)).toBe(0);
  });

  test("holds at least the capacity asked for, and refuses more than it holds", () => {
    const ring = RecordRing.create(1, 5);
    expect(ring.capacity).toBe(8);
    for (let i = 0; i < 8; i++) ring.push([i]);
    expect(() => ring.push([8])).toThrow(InternalError);
    expect(ring.drain(new Int32Array(8))).toBe(8);
    ring.push([8]);
    expect(ring.waitingCount).toBe(1);
  });

  test("keeps going when its counters wrap around", () => {
    const ring = RecordRing.create(1, 2);
    // Head and tail are the first words of the first two cache lines.
    const words = new Int32Array(ring.memory);
    words[0] = words[16] = 2 ** 31 - 1;
    const target = new Int32Array(2);
    for (let i = 0; i < 5; i++) {
      ring.push([i]);
      ring.push([i + 100]);
      expect(() => ring.push([0])).toThrow(InternalError);
      expect(ring.drain(target)).toBe(2);
      expect([...target]).toEqual([i, i + 100]);
    }
  });

  test("carries records between threads, none lost, none twice, in order", async () => {
    const there = RecordRing.create(2, 16);
    const back = RecordRing.create(2, 16);
    const signals = new Int32Array(new SharedArrayBuffer(8));
    const workerData = { incoming: there.memory, outgoing: back.memory, signals };
    const worker = new Worker(new URL("../fixtures/ring_echo.ts", import.meta.url), { workerData });
    const exited = once(worker, "exit");
    const theirs = new Signal(signals, 0);
    const mine = new Signal(signals, 1);
    const total = 20_000;
    const batch = new Int32Array(32);
    let sent = 0;
    let received = 0;
    let inOrder = true;
    while (received < total) {
      const seen = mine.read();
      const count = back.drain(batch);
      for (let k = 0; k < count; k++) {
        const expected = received + k + 1 === total ? 0 : received + k + 1;
        inOrder &&= batch[2 * k] === expected && batch[2 * k + 1] === -expected;
      }
      received += count;
      const room = Math.min(16 - (sent - received), total - sent);
      for (let k = 0; k < room; k++) {
        sent++;
        there.push(sent === total ? [0, 0] : [sent, -sent]);
      }
      if (room > 0) theirs.raise();
      else if (count === 0) mine.wait(seen);
    }
    expect(inOrder).toBe(true);
    await exited;
  });
});
