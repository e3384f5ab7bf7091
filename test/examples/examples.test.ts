import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Seeded } from "../support/seeded.ts";
import { BARS, barLines, dateOf, folder, ROOT, run, service } from "./example_process.ts";
import { killedLife } from "./service_lives.ts";

describe("the service", () => {
  const { status, stderr, lines } = service("--bars", `${BARS}`);
  const uninterrupted = barLines(lines);

  test("reports the best symbols of each bar", () => {
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(lines[0]).toBe("warm-up with 60 bars");
    expect(uninterrupted).toHaveLength(BARS);
    expect(dateOf(uninterrupted[0])).toBe("2013-05-07");
    for (const line of uninterrupted)
      expect(line).toMatch(/^\d{4}-\d\d-\d\d top (?:[A-Z.]+ \d\.\d{3}(?:, |$)){5}$/);
    expect(lines.at(-1)).toMatch(/^40 bars: \d+ on time, \d+ late, 0 skipped; slowest [\d.]+ ms$/);
  });

  test("has what it trades on in every row, however small the budget", () => {
    const { lines } = service("--bars", `${BARS}`, "--budget", "0.001", "--skip");
    expect(barLines(lines)).toEqual(uninterrupted);
    expect(lines.at(-1)).toMatch(/^40 bars: 40 on time, 0 late, 120 skipped;/);
  });

  test("publishes each bar of its feed once, though it is killed", async () => {
    await killedLife(new Seeded(), "killed", 2);
  });

  test("says in a line what the user can mend", () => {
    const state = join(folder, "damaged");
    mkdirSync(join(state, "session"), { recursive: true });
    writeFileSync(join(state, "session/state"), "no checkpoint");
    const damaged = service("--state", state);
    expect(damaged.status).toBe(1);
    expect(damaged.stderr).toMatch(/^E351 .*session.state: the checkpoint is damaged/);
    expect(service("--every", "soon")).toMatchObject({
      status: 1,
      stderr: "--every expects a number, got soon\n",
    });
  });
});

test("an operator with a window state of its own runs as code, with the values of its reference", () => {
  const { status, stderr, lines } = run(join(ROOT, "examples/rise_share.ts"));
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(lines).toEqual(["121855 rows, 0 differ from the reference; newest 0.35"]);
});

test("the research script prints its table and compares two settings", () => {
  const { status, stderr, lines } = run(join(ROOT, "examples/research.ts"));
  expect(stderr).toBe("");
  expect(status).toBe(0);
  expect(lines[0]).toBe("121855 rows, 1259 days, 100 symbols");
  expect(lines.filter((line) => /│ '\w+' +│ \d+ +│ '-?0\.\d{4}' +│/.test(line))).toHaveLength(5);
  expect(lines.at(-2)).toBe("weight 0.25: mean rank correlation 0.0049");
  expect(lines.at(-1)).toBe("weight 0.75: mean rank correlation 0.0124");
});
