import { describe, expect, test } from "vitest";
import { Schedule } from "../../../src/jobs/clock/schedule.ts";
import type { MissedPolicy, OverlapPolicy } from "../../../src/jobs/config/config.ts";
import { type LoopEvent, loopJob, Superseded } from "../../../src/jobs/service/job_loop.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";
import { FakeClock } from "../fake_clock.ts";

const HOURLY = new Schedule({
  cron: "0 * * * *",
  timezone: "UTC",
  calendar: { sessions: [], holidays: new Set() },
});

interface Given {
  readonly missed?: MissedPolicy;
  readonly overlap?: OverlapPolicy;
  readonly lastRun?: string;
  /** Hours that a run takes. */
  readonly runHours?: number;
  /** Files that each run commits, even if it is cancelled. */
  readonly committed?: number;
}

/** A loop that starts at half past 12, and the log of its events. */
function startLoop({ missed = "run_once", overlap = "skip", lastRun, runHours = 0, committed = 0 }: Given) {
  const clock = new FakeClock("2024-01-01T12:30:00Z");
  const stop = new AbortController();
  const events: string[] = [];
  /** How many due times waited, whenever that could change. */
  const waiting: number[] = [];
  const hour = (ms: number) => new Date(ms).toISOString().slice(11, 16);
  const run = async (dueMs: number, signal: AbortSignal) => {
    events.push(`${hour(dueMs)} begins`);
    await clock.sleepUntil(clock.now() + runHours * 3_600_000, signal);
    events.push(`${hour(dueMs)} ${signal.reason instanceof Superseded ? "is cancelled" : "ends"}`);
    return committed;
  };
  const onEvent = (event: LoopEvent) => {
    if (event.kind === "missed") events.push(`missed ${event.count}, run ${event.run}`);
    if (event.kind === "overlap") events.push(`${hour(event.dueMs)} ${event.policy}`);
    if (event.kind === "waiting") waiting.push(event.count);
    if (event.kind === "let_finish") events.push(`after ${event.cancelledRuns} goes on`);
    if (event.kind === "clock_set_back") events.push(`set back to ${hour(event.nowMs)}`);
  };
  const lastRunMs = lastRun === undefined ? null : Date.parse(lastRun);
  const ended = loopJob({ schedule: HOURLY, missed, overlap, clock, lastRunMs, run, onEvent }, stop.signal);
  return { clock, stop, events, waiting, ended };
}

test("a job runs at its due times until it is stopped", async () => {
  const { clock, stop, events, ended } = startLoop({});
  await clock.advanceTo("2024-01-01T14:10:00Z");
  stop.abort();
  await ended;
  expect(events).toEqual(["13:00 begins", "13:00 ends", "14:00 begins", "14:00 ends"]);
});

describe("downtime", () => {
  const lastRun = "2024-01-01T09:00:00Z";

  test.each([
    ["run_once", ["missed 3, run 1", "12:00 begins", "12:00 ends"]],
    ["skip", ["missed 3, run 0"]],
    [
      "run_all",
      ["missed 3, run 3", ...["10", "11", "12"].flatMap((hour) => [`${hour}:00 begins`, `${hour}:00 ends`])],
    ],
  ] as const)("%s", async (missed, expected) => {
    const { clock, stop, events, ended } = startLoop({ missed, lastRun });
    await clock.advanceTo("2024-01-01T12:40:00Z");
    stop.abort();
    await ended;
    expect(events).toEqual(expected);
  });

  test("a first start has missed nothing", async () => {
    const { clock, stop, events, ended } = startLoop({ missed: "run_all" });
    await clock.advanceTo("2024-01-01T12:40:00Z");
    stop.abort();
    await ended;
    expect(events).toEqual([]);
  });

  test("due times during the sleep of a machine are missed", async () => {
    const { clock, stop, events, ended } = startLoop({ missed: "run_once" });
    await clock.jumpTo("2024-01-01T16:30:00Z");
    stop.abort();
    await ended;
    expect(events).toEqual(["missed 4, run 1", "16:00 begins", "16:00 ends"]);
  });
});

describe("a run that has not ended when the next one is due", () => {
  test.each([
    ["skip", ["13:00 begins", "14:00 skip", "13:00 ends", "15:00 begins", "16:00 skip"]],
    [
      "queue",
      [
        "13:00 begins",
        "14:00 queue",
        "13:00 ends",
        "14:00 begins",
        "15:00 queue",
        "14:00 ends",
        "15:00 begins",
        "16:00 queue",
      ],
    ],
    [
      "cancel",
      [
        "13:00 begins",
        "14:00 cancel",
        "13:00 is cancelled",
        "14:00 begins",
        "15:00 cancel",
        "14:00 is cancelled",
        "15:00 begins",
        "16:00 cancel",
        "after 2 goes on",
      ],
    ],
  ] as const)("%s", async (overlap, expected) => {
    const { clock, stop, events, waiting, ended } = startLoop({ overlap, runHours: 1.4 });
    await clock.advanceTo("2024-01-01T16:10:00Z");
    expect(events).toEqual(expected);
    // The run that is due at 16:00 waits, for one that goes on or for those queued before it.
    expect(waiting.at(-1)).toBe({ skip: 0, queue: 1, cancel: 1 }[overlap]);
    stop.abort();
    await clock.advanceTo("2024-01-01T20:00:00Z");
    await ended;
    expect(events.length).toBe(expected.length + 1);
  });
});

test("runs that commit something are cancelled as often as the next one is due", async () => {
  const { clock, stop, events, ended } = startLoop({ overlap: "cancel", runHours: 1.4, committed: 1 });
  await clock.advanceTo("2024-01-01T20:10:00Z");
  stop.abort();
  await clock.advanceTo("2024-01-01T23:00:00Z");
  await ended;
  expect(events.filter((line) => line.endsWith("is cancelled"))).toHaveLength(7);
  expect(events).not.toContain("after 2 goes on");
});

describe("a clock that is set", () => {
  test("back by days: the job is due at the times that the clock shows then", async () => {
    const { clock, stop, events, ended } = startLoop({});
    await clock.advanceTo("2024-01-01T13:10:00Z");
    await clock.jumpTo("2023-12-30T13:50:00Z");
    await clock.advanceTo("2023-12-30T15:10:00Z");
    stop.abort();
    await ended;
    const runs = ["13:00 begins", "13:00 ends", "set back to 13:50"];
    expect(events).toEqual([...runs, "14:00 begins", "14:00 ends", "15:00 begins", "15:00 ends"]);
  });

  test("forth and back at random moments leaves no hour without a run", async () => {
    const random = new Seeded();
    const { clock, stop, events, ended } = startLoop({ missed: "run_once" });
    for (let step = 0; step < trials(50, 1_000); step++) {
      await clock.jumpTo(new Date(clock.now() + (random.uniform() - 0.5) * 1e9).toISOString());
      const before = events.length;
      await clock.advanceTo(new Date(clock.now() + 3_600_000).toISOString());
      expect(events.slice(before).join(), `seed ${random.seed}, step ${step}`).toMatch(/begins/);
    }
    stop.abort();
    await ended;
  });
});
