import { expect, test } from "vitest";
import { type ChromeEvent, TRACKS } from "../../../src/cli/trace/chrome_trace.ts";
import { RunRecord } from "../../../src/cli/trace/run_record.ts";

const track = (tid: number, name: string): ChromeEvent => {
  return { name: "thread_name", ph: "M", pid: 1, tid, args: { name } };
};
const span = (tid: number, name: string, cat: string, ts: number, dur: number, args = {}): ChromeEvent => {
  return { name, cat, ph: "X", pid: 1, tid, ts, dur, args };
};
const part = (tid: number, node: number, cat: string, ts: number, dur: number) =>
  span(tid, "rank", cat, ts, dur, { node, ns: 1000 * dur });

test("parts become work of their thread and their node; waits are none", () => {
  const record = new RunRecord(1000);
  record.write([
    track(TRACKS.main, "main thread"),
    track(10, "executor 0"),
    track(11, "executor 1"),
    part(10, 3, "rows", 0, 100),
    part(10, 4, "lanes", 100, 25),
    part(10, 3, "rows", 150, 50),
    span(TRACKS.main, "wait for a block", "main", 0, 200),
    span(TRACKS.main, "write a block", "main", 50, 50),
    { name: "resident bytes", ph: "C", pid: 1, tid: 0, ts: 60, args: { value: 7 } },
    { name: "resident bytes", ph: "C", pid: 1, tid: 0, ts: 99, args: { value: 5 } },
    { name: "resident bytes", ph: "C", pid: 1, tid: 0, ts: 9999, args: { value: 9 } },
  ]);
  expect(record.nodes).toEqual(
    new Map([
      [3, { ns: 150_000, partCount: 2 }],
      [4, { ns: 25_000, partCount: 1 }],
    ]),
  );
  expect(record.timeline()).toEqual({
    binMs: 0.05,
    tracks: [
      { name: "main thread", works: [{ kind: "write", ms: 0.05, percents: [0, 100, 0, 0] }] },
      {
        name: "executor 0",
        works: [
          { kind: "rows", ms: 0.15, percents: [100, 100, 0, 100] },
          { kind: "lanes", ms: 0.025, percents: [0, 0, 50, 0] },
        ],
      },
    ],
    residentBytes: [0, 7, 0, 0],
  });
});

test("steps before the evaluation are work of the main thread, and no other step is", () => {
  const record = new RunRecord(1000);
  record.write([track(TRACKS.main, "main thread")]);
  record.addSteps([
    { name: "read", startMs: 1000, endMs: 1000.1 },
    { name: "evaluate", startMs: 1001, endMs: 1002 },
  ]);
  const { tracks } = record.timeline();
  expect(tracks).toHaveLength(1);
  expect(tracks[0]!.works).toHaveLength(1);
  expect(tracks[0]!.works[0]!.kind).toBe("prepare");
  expect(tracks[0]!.works[0]!.ms).toBeCloseTo(0.1, 6);
});

test("a run without an event has an empty timeline", () => {
  const { tracks, residentBytes } = new RunRecord(0).timeline();
  expect([tracks, residentBytes]).toEqual([[], []]);
});
