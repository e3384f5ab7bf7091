import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { DONE_WORDS, PART_STATUS, packDone } from "../../../src/execution/protocol.ts";
import { createTimeSums, timesOf } from "../../../src/execution/times/thread_times.ts";
import { TimesRecorder } from "../../../src/execution/times/times_recorder.ts";
import { traceNowMs } from "../../../src/execution/trace/trace_events.ts";
import type { Instruction, RunInstruction, ScheduledNode } from "../../../src/schedule/events.ts";
import { dataOf, smallPlan } from "../small_plan.ts";
import { withPool } from "../test_pool.ts";

const node = (...inputs: number[]): ScheduledNode => ({
  inputs,
  partCount: 1,
  weight: 1,
  costNs: 1,
  moveNs: 0,
});

function run(executor: number, ticket: number, of: number, isAhead = false): RunInstruction {
  const part = { plan: 0, block: 0, node: of, part: 0, call: 0, weight: 1 };
  return { kind: "run", executor, ticket, isAhead, ...part };
}

/**
 * Executor 1 runs node 1 from 1 to 2 ms and then node 2, which reads node 0 of executor 0, from 1 to 5 ms. It is handed out
 * at once, ahead of its input, or after so long.
 */
async function timesOfWait(handedAfterMs: number, startMs: number) {
  const sums = createTimeSums();
  const recorder = new TimesRecorder(sums);
  const t = traceNowMs();
  const done = (executor: number, ticket: number, from: number, to: number) => {
    const record = new Int32Array(DONE_WORDS);
    packDone(record, PART_STATUS.done, ticket, t + from, 1e6 * (to - from));
    recorder.noteDone(executor, record, 0);
  };
  recorder.noteEvents([{ kind: "opened", plan: 0, nodes: [node(), node(), node(0)] }]);
  recorder.noteEvents([{ kind: "submitted", plan: 0, block: 0, isNeeded: null, call: 0 }]);
  const first: Instruction[] = [run(0, 0, 0), run(1, 0, 1)];
  for (const one of handedAfterMs === 0 ? [...first, run(1, 1, 2, true)] : first)
    recorder.noteInstruction(one);
  done(0, 0, 1, 5);
  done(1, 0, 1, 2);
  if (handedAfterMs > 0) {
    await wait(handedAfterMs);
    recorder.noteInstruction(run(1, 1, 2));
  }
  done(1, 1, startMs, startMs + 2);
  recorder.noteInstruction({ kind: "finished", plan: 0, block: 0 });
  recorder.noteHandled(1, 0);
  return timesOf(sums, 0);
}

test("a wait is for inputs until they are complete, then for the executor to see what it has", async () => {
  const times = await timesOfWait(0, 7);
  expect(times.running).toBeCloseTo(7, 1);
  expect(times.noReady).toBeCloseTo(3, 1);
  expect(times.waking).toBeCloseTo(2, 1);
  expect(times).toMatchObject({ scheduler: 0, taking: 0, parts: 3, hops: 1, runs: 1 });
});

test("a part that is ready waits for the scheduler until it is handed out", async () => {
  const times = await timesOfWait(30, 10_000);
  expect(times.noReady).toBeCloseTo(3, 1);
  expect(times.scheduler).toBeGreaterThan(24);
  expect(times.scheduler + times.waking).toBeCloseTo(10_000 - 5, 1);
  expect(times).toMatchObject({ taking: 0, parts: 3, hops: 1, runs: 1 });
});

test("of a pool they are noted if somebody asks, and are the time of its executors", async () => {
  const plan = smallPlan({ sum: { operator: "cum_sum", reads: ["x"], partCount: 2, isOutput: true } }, 4, 3);
  await withPool({ threads: 1 }, async ({ pool, runOnce }) => {
    await runOnce(dataOf(plan, 4));
    expect(pool.times).toBeNull();
  });
  await withPool({ threads: 2, notesTimes: true }, async ({ pool, runOnce }) => {
    const before = performance.now();
    for (let run = 0; run < 20; run++) await runOnce(dataOf(plan, 4));
    await expect.poll(() => pool.times!.runs).toBe(20);
    const elapsed = performance.now() - before;
    const { parts, running, noRun, noReady, scheduler, waking, taking, underWay, handling, events } =
      pool.times!;
    expect(parts).toBe(20 * 3);
    const spent = [running, noRun, noReady, scheduler, waking, taking];
    expect(Math.min(...spent)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...spent)).toBeLessThanOrEqual(2 * elapsed);
    expect(running).toBeGreaterThan(0);
    expect(underWay).toBeLessThan(elapsed);
    expect(handling).toBeGreaterThan(0);
    expect(events).toBeGreaterThan(20 * 4);
  });
});
