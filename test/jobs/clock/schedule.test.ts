import { describe, expect, test } from "vitest";
import { Schedule } from "../../../src/jobs/clock/schedule.ts";
import type { CalendarConfig } from "../../../src/jobs/config/config.ts";
import { cronMistake } from "../../../src/jobs/config/cron.ts";

const OPEN: CalendarConfig = { sessions: [], holidays: new Set() };

function due(
  cron: string,
  timezone: string,
  after: string,
  count: number,
  calendar: Partial<CalendarConfig> = {},
) {
  const schedule = new Schedule({ cron, timezone, calendar: { ...OPEN, ...calendar } });
  return schedule
    .between(Date.parse(after), Number.POSITIVE_INFINITY, count)
    .map((ms) => new Date(ms).toISOString().replace(":00.000Z", "Z"));
}

describe("changes of clocks", () => {
  test("a time that is left out in spring comes at the next hour, once", () => {
    expect(due("30 2 * * *", "America/New_York", "2024-03-09T00:00:00Z", 3)).toEqual([
      "2024-03-09T07:30Z",
      "2024-03-10T07:00Z",
      "2024-03-11T06:30Z",
    ]);
  });

  test("a time that comes twice in autumn is due once", () => {
    expect(due("30 1 * * *", "America/New_York", "2024-11-02T12:00:00Z", 2)).toEqual([
      "2024-11-03T05:30Z",
      "2024-11-04T06:30Z",
    ]);
  });

  test("an interval goes on through both", () => {
    expect(due("*/30 * * * *", "America/New_York", "2024-11-03T05:15:00Z", 4)).toEqual([
      "2024-11-03T05:30Z",
      "2024-11-03T06:00Z",
      "2024-11-03T06:30Z",
      "2024-11-03T07:00Z",
    ]);
    expect(due("*/30 * * * *", "America/New_York", "2024-03-10T06:15:00Z", 3)).toEqual([
      "2024-03-10T06:30Z",
      "2024-03-10T07:00Z",
      "2024-03-10T07:30Z",
    ]);
  });

  test("the close stays at its local time", () => {
    expect(due("0 16 * * 1-5", "America/New_York", "2024-03-08T00:00:00Z", 2)).toEqual([
      "2024-03-08T21:00Z",
      "2024-03-11T20:00Z",
    ]);
  });
});

describe("calendars", () => {
  const sessions = [
    { startMinute: 9 * 60 + 30, endMinute: 11 * 60 + 30 },
    { startMinute: 13 * 60, endMinute: 15 * 60 },
  ];

  test("a day of two sessions, both ends included", () => {
    const times = due("*/30 * * * *", "Asia/Shanghai", "2024-01-02T00:00:00Z", 11, { sessions });
    expect(times.map((time) => time.slice(11))).toEqual(
      ["01:30", "02:00", "02:30", "03:00", "03:30", "05:00", "05:30", "06:00", "06:30", "07:00", "01:30"].map(
        (time) => `${time}Z`,
      ),
    );
    expect(times.at(-1)).toBe("2024-01-03T01:30Z");
  });

  test("holidays are days of the time zone", () => {
    const holidays = new Set(["2024-12-25", "2025-01-01"]);
    expect(due("0 8 * * 1-5", "Asia/Tokyo", "2024-12-23T22:00:00Z", 3, { holidays })).toEqual([
      "2024-12-23T23:00Z",
      "2024-12-25T23:00Z",
      "2024-12-26T23:00Z",
    ]);
  });

  test("a session starts at its local time also on the day that clocks change", () => {
    const early = [{ startMinute: 4 * 60, endMinute: 5 * 60 }];
    expect(due("*/20 * * * *", "America/New_York", "2024-03-10T05:30:00Z", 2, { sessions: early })).toEqual([
      "2024-03-10T08:00Z",
      "2024-03-10T08:20Z",
    ]);
  });

  test("a pattern of every second skips a long closure", () => {
    const holidays = new Set(
      Array.from({ length: 60 }, (_, day) => new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10)),
    );
    expect(due("* * * * * *", "UTC", "2024-01-01T00:00:00Z", 1, { sessions, holidays })).toEqual([
      "2024-03-01T09:30Z",
    ]);
  });

  test("a calendar that excludes everything has no next time", () => {
    expect(due("0 20 * * *", "UTC", "2024-01-01T00:00:00Z", 1, { sessions })).toEqual([]);
  });
});

test("texts that are no patterns", () => {
  expect(cronMistake("30 16 * * 1-5")).toBeNull();
  expect(cronMistake("61 * * * *")).toContain("minute");
  expect(cronMistake("0 0 30 2 *")).toBe("it never fires");
  expect(cronMistake("whenever")).not.toBeNull();
});
