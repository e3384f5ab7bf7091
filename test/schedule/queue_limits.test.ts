import { describe, expect, test } from "vitest";
import type { ScheduledNode } from "../../src/schedule/events.ts";
import { queueLimits } from "../../src/schedule/queue_limits.ts";
import type { SchedulerOptions } from "../../src/schedule/scheduler.ts";
import { ListedScheduler } from "./listed_scheduler.ts";

test("limits are overridden one at a time, that of parts ahead with that of all", () => {
  const usual = queueLimits({});
  expect(usual).toEqual({ queueNs: 3e6, partsMin: 2, aheadNs: 750_000 });
  expect(queueLimits({ queueNs: 0 })).toEqual({ ...usual, queueNs: 0, aheadNs: 0 });
  expect(queueLimits({ queuePartsMin: 3 })).toEqual({ ...usual, partsMin: 3 });
});

describe("the scheduler fills queues", () => {
  /** Independent nodes of 10 us, and one that reads all of them. */
  const nodes = Array.from({ length: 81 }, (_, node): ScheduledNode => {
    const inputs = node === 80 ? Array.from({ length: 80 }, (__, input) => input) : [];
    return { inputs, partCount: 1, weight: 10_000, costNs: 10_000, moveNs: 0 };
  });

  function given(options: SchedulerOptions): [ready: number, ahead: number] {
    const scheduler = new ListedScheduler({ isStealing: false, ...options });
    scheduler.handleAll([
      { kind: "joined", executor: 0 },
      { kind: "opened", plan: 0, nodes },
    ]);
    const ready = scheduler.handle({ kind: "submitted", plan: 0, block: 0, call: 0, isNeeded: null });
    return [ready.length, scheduler.runAhead().length];
  }

  test("up to 3 ms, or what its options say", () => {
    expect(given({ queueNs: 50_000 })).toEqual([5, 0]);
    expect(given({ queueNs: 3e6 })).toEqual([80, 1]);
  });

  test("with parts ahead of their inputs while there is little in them", () => {
    expect(given({})).toEqual([80, 0]);
    expect(given({ queueNs: 1_620_000 })).toEqual([80, 1]);
    expect(given({ queueNs: 1_619_999 })).toEqual([80, 0]);
  });
});
