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
  /** Files that each run commits, whether it is cut off or not. */
  readonly committed?: number;
}

/** A loop that starts at half past 12, and tells what it does. */
function startLoop({ missed = "run_once", overlap = "skip", lastRun, runHours = 0, committed = 0 }: Given) {
  const clock = new FakeClock("2024-01-01T12:30:00Z");
  const stop = new AbortController();
  const told: string[] = [];
  const hour = (ms: number) => new Date(ms).toISOString().slice(11, 16);
  const run = async (dueMs: number, signal: AbortSignal) => {
    told.push(`${hour(dueMs)} begins`);
    await clock.sleepUntil(clock.now() + runHours * 3_600_000, signal);
    told.push(`${hour(dueMs)} ${signal.reason instanceof Superseded ? "is cut off" : "ends"}`);
    return committed;
  };
  const onEvent = (event: LoopEvent) => {
    if (event.kind === "missed") told.push(`missed ${event.count}, run ${event.run}`);
    if (event.kind === "overlap") told.push(`${hour(event.dueMs)} ${event.policy}`);
    if (event.kind === "let_finish") told.push(`after ${event.cancelledRuns} goes on`);
    if (event.kind === "clock_set_back") told.push(`set back to ${hour(event.nowMs)}`);
  };
  const lastRunMs = lastRun === undefined ? null : Date.parse(lastRun);
  const ended = loopJob({ schedule: HOURLY, missed, overlap, clock, lastRunMs, run, onEvent }, stop.signal);
  return { clock, stop, told, ended };
}

test("a job runs at its due times until it is stopped", async () => {
  const { clock, stop, told, ended } = startLoop({});
  await clock.advanceTo("2024-01-01T14:10:00Z");
  stop.abort();
  await ended;
  expect(told).toEqual(["13:00 begins", "13:00 ends", "14:00 begins", "14:00 ends"]);
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
    const { clock, stop, told, ended } = startLoop({ missed, lastRun });
    await clock.advanceTo("2024-01-01T12:40:00Z");
    stop.abort();
    await ended;
    expect(told).toEqual(expected);
  });

  test("a first start has missed nothing", async () => {
    const { clock, stop, told, ended } = startLoop({ missed: "run_all" });
    await clock.advanceTo("2024-01-01T12:40:00Z");
    stop.abort();
    await ended;
    expect(told).toEqual([]);
  });

  test("a machine that slept has missed what was due meanwhile", async () => {
    const { clock, stop, told, ended } = startLoop({ missed: "run_once" });
    await clock.jumpTo("2024-01-01T16:30:00Z");
    stop.abort();
    await ended;
    expect(told).toEqual(["missed 4, run 1", "16:00 begins", "16:00 ends"]);
  });
});

describe("a run that is not done when the next one is due", () => {
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
        "13:00 is cut off",
        "14:00 begins",
        "15:00 cancel",
        "14:00 is cut off",
        "15:00 begins",
        "16:00 cancel",
        "after 2 goes on",
      ],
    ],
  ] as const)("%s", async (overlap, expected) => {
    const { clock, stop, told, ended } = startLoop({ overlap, runHours: 1.4 });
    await clock.advanceTo("2024-01-01T16:10:00Z");
    expect(told).toEqual(expected);
    stop.abort();
    await clock.advanceTo("2024-01-01T20:00:00Z");
    await ended;
    expect(told.length).toBe(expected.length + 1);
  });
});

test("runs that commit something are cancelled as often as the next one is due", async () => {
  const { clock, stop, told, ended } = startLoop({ overlap: "cancel", runHours: 1.4, committed: 1 });
  await clock.advanceTo("2024-01-01T20:10:00Z");
  stop.abort();
  await clock.advanceTo("2024-01-01T23:00:00Z");
  await ended;
  expect(told.filter((line) => line.endsWith("is cut off"))).toHaveLength(7);
  expect(told).not.toContain("after 2 goes on");
});

describe("a clock that is set", () => {
  test("back by days: the job is due at the times that the clock shows then", async () => {
    const { clock, stop, told, ended } = startLoop({});
    await clock.advanceTo("2024-01-01T13:10:00Z");
    await clock.jumpTo("2023-12-30T13:50:00Z");
    await clock.advanceTo("2023-12-30T15:10:00Z");
    stop.abort();
    await ended;
    const runs = ["13:00 begins", "13:00 ends", "set back to 13:50"];
    expect(told).toEqual([...runs, "14:00 begins", "14:00 ends", "15:00 begins", "15:00 ends"]);
  });

  test("forth and back at random moments leaves no hour without a run", async () => {
    const random = new Seeded();
    const { clock, stop, told, ended } = startLoop({ missed: "run_once" });
    for (let step = 0; step < trials(50, 1_000); step++) {
      await clock.jumpTo(new Date(clock.now() + (random.uniform() - 0.5) * 1e9).toISOString());
      const before = told.length;
      await clock.advanceTo(new Date(clock.now() + 3_600_000).toISOString());
      expect(told.slice(before).join(), `seed ${random.seed}, step ${step}`).toMatch(/begins/);
    }
    stop.abort();
    await ended;
  });
});
