import { describe, expect, test } from "vitest";
import { formatTime, parseTimeText } from "../../../src/data/time/time_text.ts";
import type { TimeType } from "../../../src/panel.ts";
import { messageOf } from "../scratch.ts";

const DATE: TimeType = { kind: "date" };
const INTEGER: TimeType = { kind: "integer", bits: 32 };
const timestamp = (unit: "s" | "ms" | "us" | "ns", timezone: string | null = null): TimeType => ({
  kind: "timestamp",
  unit,
  timezone,
});

describe("parseTimeText", () => {
  test.each<[string, TimeType, bigint]>([
    ["2014-01-02", DATE, 16072n],
    ["20140102", INTEGER, 20140102n],
    ["2014-01-02", timestamp("s"), 1388620800n],
    ["2014-01-02 09:30", timestamp("ms"), 1388655000000n],
    ["2014-01-02T09:30:00.5", timestamp("us"), 1388655000500000n],
    ["2014-01-02 09:30:00.000000001", timestamp("ns"), 1388655000000000001n],
    ["2014-01-02 09:30:00Z", timestamp("us", "America/New_York"), 1388655000000000n],
    ["2014-01-02 09:30:00", timestamp("us", "America/New_York"), 1388673000000000n],
    ["2014-01-02", timestamp("s", "America/New_York"), 1388638800n],
    ["2014-01-02", timestamp("ns", "+02:00"), 1388613600000000000n],
    ["2014-01-02 09:30", timestamp("s", "UTC"), 1388655000n],
  ])("%s", async (text, type, value) => {
    expect(await parseTimeText(text, type)).toBe(value);
  });

  test.each([
    "2014-01-02 09:30.5",
    "2014-01-02 09:30:00.5.5",
    "2014-01-02 09:30:00+99:00",
    "2014-01-02 09:30:00+05:60",
  ])("refuses %s", async (text) => {
    expect(await messageOf(parseTimeText(text, timestamp("us", "UTC")))).toContain("E541");
  });

  test("takes a date as the end of that day for `to`, in the column's zone and over a change of clocks", async () => {
    expect(await parseTimeText("2014-01-02", DATE, "to")).toBe(16072n);
    expect(await parseTimeText("2014-01-02", timestamp("s"), "to")).toBe(1388707199n);
    expect(await parseTimeText("2014-01-02 09:30", timestamp("s"), "to")).toBe(1388655000n);
    const newYork = timestamp("s", "America/New_York"); // 2014-03-09 had 23 hours there
    const length =
      (await parseTimeText("2014-03-09", newYork, "to")) - (await parseTimeText("2014-03-09", newYork));
    expect(length).toBe(23n * 3600n - 1n);
  });

  test.each<[string, TimeType]>([
    ["2014-13-40", DATE],
    ["2014-01-02 09:30", DATE],
    ["02/01/2014", DATE],
    ["'; DROP TABLE x; --", DATE],
    ["", DATE],
    ["1.5", INTEGER],
    ["3000000000", INTEGER],
    ["2014-01-02 25:00", timestamp("us")],
    ["2014-01-02 09:30:00+02", timestamp("us")],
    ["infinity", timestamp("us")],
    ["now", timestamp("us", "UTC")],
    ["2014-02-30", timestamp("us", "UTC")],
  ])("refuses %j", async (text, type) => {
    expect(await messageOf(parseTimeText(text, type))).toMatch(/^UsageError: E541 ".*" is not /);
  });

  test("needs an offset in a zone that is not known", async () => {
    const odd = timestamp("s", "Mars/Olympus");
    expect(await parseTimeText("2014-01-02 09:30:00Z", odd)).toBe(1388655000n);
    expect(await messageOf(parseTimeText("2014-01-02", odd))).toMatchInlineSnapshot(`
      "UsageError: E541 "2014-01-02" is not a time with an offset from UTC, and the time zone Mars/Olympus is not known
        write it like the times in the data"
    `);
  });

  test("says what it expects", async () => {
    expect(await messageOf(parseTimeText("2014-13-40", DATE))).toMatchInlineSnapshot(`
      "UsageError: E541 "2014-13-40" is not a date (YYYY-MM-DD)
        write it like the times in the data"
    `);
    expect(await messageOf(parseTimeText("x", INTEGER))).toMatchInlineSnapshot(`
      "UsageError: E541 "x" is not an integer of 32 bits
        write it like the times in the data"
    `);
    expect(await messageOf(parseTimeText("x", timestamp("us")))).toMatchInlineSnapshot(`
      "UsageError: E541 "x" is not a timestamp without time zone
        write it like the times in the data"
    `);
    expect(await messageOf(parseTimeText("x", timestamp("us", "UTC")))).toMatchInlineSnapshot(`
      "UsageError: E541 "x" is not a timestamp (time zone UTC)
        write it like the times in the data"
    `);
  });
});

describe("formatTime", () => {
  test.each<[bigint, TimeType, string]>([
    [16072n, DATE, "2014-01-02"],
    [-1n, DATE, "1969-12-31"],
    [1n << 40n, DATE, "day 1099511627776"],
    [20140102n, INTEGER, "20140102"],
    [1388655000n, timestamp("s"), "2014-01-02 09:30:00"],
    [1388655000500n, timestamp("ms"), "2014-01-02 09:30:00.500"],
    [-1n, timestamp("us"), "1969-12-31 23:59:59.999999"],
    [1388655000000000001n, timestamp("ns", "America/New_York"), "2014-01-02 09:30:00.000000001Z"],
    [1n << 60n, timestamp("s"), "1152921504606846976 s"],
  ])("%s", (value, type, text) => {
    expect(formatTime(value, type)).toBe(text);
  });
});
