import { describe, expect, test } from "vitest";
import type { Instruction, ScheduledNode } from "../../src/schedule/events.ts";
import { LONG_QUEUES, overridden, queueLimits } from "../../src/schedule/queue_limits.ts";
import { Scheduler } from "../../src/schedule/scheduler.ts";

const MS = 1e6;

describe("queues of a plan", () => {
  const plan = (blockRows: number, totalMs: number) => ({
    blockRows,
    nodes: [{ costNs: 0.75 * totalMs * MS }, { costNs: 0.25 * totalMs * MS }],
  });

  test("are short for single rows of little work on many executors, else long", () => {
    const { queueNs, partsMin } = queueLimits(plan(1, 19.2), 16);
    expect({ queueNs, partsMin }).toEqual({ queueNs: 20_000, partsMin: 1 });
    for (const [rows, totalMs, executors] of [
      [1, 19.3, 16],
      [1, 1, 15],
      [2, 1, 200],
      [64, 1000, 200],
    ] as const)
      expect(queueLimits(plan(rows, totalMs), executors)).toBe(LONG_QUEUES);
    expect(queueLimits({ blockRows: 1, nodes: [] }, 16).queueNs).toBe(20_000);
  });

  test("are overridden one limit at a time", () => {
    expect(overridden(LONG_QUEUES, {})).toEqual(LONG_QUEUES);
    expect(overridden(LONG_QUEUES, { queueNs: 0 })).toEqual({ ...LONG_QUEUES, queueNs: 0, aheadNs: 0 });
    expect(overridden(LONG_QUEUES, { queuePartsMin: 3 })).toEqual({
      ...LONG_QUEUES,
      partsMin: 3,
    });
  });
});

/** Independent nodes of 10 us. */
const nodes = Array.from(
  { length: 40 },
  (): ScheduledNode => ({ inputs: [], partCount: 1, weight: 10_000, costNs: 10_000, moveNs: 0 }),
);
const SHORT = queueLimits({ blockRows: 1, nodes }, 16);

const submitted = (plan: number, block = 0) =>
  ({ kind: "submitted", plan, block, call: plan, isNeeded: null }) as const;
const partsOf = (instructions: readonly Instruction[], ofPlan: number) =>
  instructions.filter((one) => one.kind === "run" && one.plan === ofPlan);

function schedulerWith(...opened: readonly (typeof SHORT | undefined)[]): Scheduler {
  const scheduler = new Scheduler({ isStealing: false });
  scheduler.handle({ kind: "joined", executor: 0 });
  opened.forEach((queue, plan) => {
    scheduler.handle({ kind: "opened", plan, nodes, ...(queue && { queue }) });
  });
  return scheduler;
}

describe("the scheduler fills queues", () => {
  test("as the plan says: 20 us, or 3 ms where it says nothing", () => {
    expect(partsOf(schedulerWith(SHORT).handle(submitted(0)), 0)).toHaveLength(2);
    expect(partsOf(schedulerWith(undefined).handle(submitted(0)), 0)).toHaveLength(40);
  });

  test("but not while another run is under way, of this plan or another one", () => {
    for (const opened of [[SHORT], [SHORT, undefined], [SHORT, SHORT]]) {
      const scheduler = schedulerWith(...opened);
      const second = opened.length - 1;
      expect(partsOf(scheduler.handle(submitted(0)), 0)).toHaveLength(2);
      // Of a run that is not the earliest a queue holds two parts: those are there.
      const given = scheduler.handle(submitted(second, second === 0 ? 1 : 0));
      expect(partsOf(given, 0)).toHaveLength(38);
      expect(scheduler.queuedCount(0)).toBe(40);
    }
  });

  test("and are short again when it has ended", () => {
    const scheduler = schedulerWith(SHORT);
    const waiting = scheduler.handleAll([submitted(0, 0), submitted(0, 1)]).flatMap((one) => {
      return one.kind === "run" ? [one.ticket] : [];
    });
    const lengths: number[] = [];
    for (let ticket = waiting.shift(); ticket !== undefined; ticket = waiting.shift()) {
      for (const one of scheduler.handle({ kind: "done", executor: 0, ticket, ns: 10_000 }))
        if (one.kind === "run") waiting.push(one.ticket);
      lengths.push(scheduler.queuedCount(0));
    }
    expect(lengths).toHaveLength(2 * nodes.length);
    expect(Math.max(...lengths.slice(0, 39))).toBe(39);
    expect(Math.max(...lengths.slice(40))).toBe(2);
  });

  test("unless the scheduler's options say otherwise", () => {
    const scheduler = new Scheduler({ isStealing: false, queueNs: 50_000 });
    scheduler.handle({ kind: "joined", executor: 0 });
    scheduler.handle({ kind: "opened", plan: 0, nodes, queue: SHORT });
    expect(partsOf(scheduler.handle(submitted(0)), 0)).toHaveLength(5);
  });
});
