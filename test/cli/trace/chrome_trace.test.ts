import { expect, test } from "vitest";
import { ChromeTrace, TRACKS } from "../../../src/cli/trace/chrome_trace.ts";
import type { TraceEvent } from "../../../src/execution/trace/trace_events.ts";

const START_MS = 1_700_000_000_000;
const nodes = [
  { name: "input", kind: "input", partCount: 1 },
  { name: "2 tasks: ts_mean, subtract", kind: "lanes", partCount: 2 },
] as const;

function opened(): ChromeTrace {
  const chrome = new ChromeTrace(START_MS);
  chrome.eventsOf({ kind: "started", atMs: START_MS, threads: 2 });
  chrome.eventsOf({ kind: "opened", atMs: START_MS, plan: 3, nodes });
  return chrome;
}

function part(executor: number, startMs: number, ns: number, rest: object = {}): TraceEvent {
  const id = { plan: 3, block: 5, node: 1, part: 1 };
  return {
    kind: "part",
    executor,
    ...id,
    startMs: START_MS + startMs,
    ns,
    hasFailed: false,
    stolen: null,
    ...rest,
  };
}

test("a part is a slice on its executor's track, in us from the start", () => {
  expect(opened().eventsOf(part(1, 2, 1500))).toEqual([
    {
      name: "2 tasks: ts_mean, subtract",
      cat: "lanes",
      ph: "X",
      pid: 1,
      tid: 11,
      ts: 2000,
      dur: 1.5,
      args: { plan: 3, block: 5, node: 1, part: 1, kind: "lanes", ns: 1500 },
    },
  ]);
});

test("a part that threw says so", () => {
  const [slice] = opened().eventsOf(part(0, 0, 10, { hasFailed: true }));
  expect(slice).toMatchObject({ args: { failed: true } });
});

test("parts of one executor do not overlap by the grain of the clock; those of two may", () => {
  const chrome = opened();
  const [first] = chrome.eventsOf(part(0, 1, 1_000_000));
  const [second] = chrome.eventsOf(part(0, 1.999_5, 1_000_000));
  const [other] = chrome.eventsOf(part(1, 1.999_5, 1_000_000));
  expect(first!.ts! + first!.dur!).toBe(second!.ts);
  expect(other!.ts).toBeLessThan(second!.ts!);
  expect(second!.ts! + second!.dur!).toBe(other!.ts! + other!.dur!);
});

test("a steal is an instant on the victim's track and an arrow to the thief's part, listed before the arrow", () => {
  const events = opened().eventsOf(part(1, 4, 1000, { stolen: { victim: 0, atMs: START_MS + 3 } }));
  expect(events.map(({ ph, tid, ts }) => [ph, tid, ts])).toEqual([
    ["X", 11, 4000],
    ["i", 10, 3000],
    ["s", 10, 3000],
    ["f", 11, 4000],
  ]);
  expect(events[3]).toMatchObject({ id: events[2]!["id"], bp: "e" });
});

test("a step of the scheduler is a slice and a count of ready nodes; a queue is a counter", () => {
  const chrome = opened();
  const step = { startMs: START_MS + 1, ns: 2000, eventCount: 3, instructionCount: 4, readyCount: 5 };
  expect(chrome.eventsOf({ kind: "scheduled", ...step })).toMatchObject([
    { ph: "X", tid: TRACKS.scheduler, ts: 1000, dur: 2, args: { events: 3, instructions: 4 } },
    { ph: "C", name: "ready nodes", ts: 1002, args: { value: 5 } },
  ]);
  expect(chrome.eventsOf({ kind: "queue", atMs: START_MS + 1, executor: 1, partCount: 7 })).toMatchObject([
    { ph: "C", name: "queue of executor 1", ts: 1000, args: { value: 7 } },
  ]);
});

test("events that were left out are marked where they are missing", () => {
  expect(opened().eventsOf({ kind: "dropped", atMs: START_MS + 1, count: 12 })).toMatchObject([
    { ph: "i", name: "12 events left out", ts: 1000 },
  ]);
});
