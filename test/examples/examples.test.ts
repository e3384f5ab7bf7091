import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const SERVICE = join(ROOT, "examples/service/service.ts");
/** Bars of the runs that are compared. */
const BARS = 40;

// Every test starts processes, each of which reads the bars.

const folder = mkdtempSync(join(tmpdir(), "factorloom-examples-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs an example to its end, outside the project: what it reads lies beside it, not in the working folder. */
function run(script: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  return { status, stderr, lines: stdout.trimEnd().split("\n") };
}

const service = (...args: string[]) => run(SERVICE, "--report", "1", ...args);

/** Sends a signal to the paced service once it has reported some bars. */
async function interrupt(signal: NodeJS.Signals, barCount: number, args: readonly string[]) {
  const child = spawn(process.execPath, [SERVICE, "--report", "1", "--every", "20", ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    // Once: the service is ended at once by a second signal.
    if (!child.killed && barLines(lines).length === barCount) child.kill(signal);
  }
  const [code] = await exit;
  return { code, lines };
}

const barLines = (lines: readonly string[]) => lines.filter((line) => line.includes(" top "));
const dateOf = (line: string | undefined) => line?.slice(0, 10);

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

  test("goes on after SIGTERM and SIGINT where it was stopped, each bar once", async () => {
    const state = ["--state", join(folder, "stopped.checkpoint")];
    const terminated = await interrupt("SIGTERM", 8, state);
    const interrupted = await interrupt("SIGINT", 8, state);
    for (const { code, lines } of [terminated, interrupted]) {
      expect(code).toBe(0);
      expect(lines).toContain(`checkpoint after ${dateOf(barLines(lines).at(-1))}`);
      expect(lines.at(-1)).toBe("stopped");
    }
    expect(interrupted.lines[0]).toMatch(/^resumed from /);
    const before = [...barLines(terminated.lines), ...barLines(interrupted.lines)];
    const rest = service(...state, "--bars", `${BARS - before.length}`);
    expect([...before, ...barLines(rest.lines)]).toEqual(uninterrupted);
  });

  test("goes on after kill -9 from the last checkpoint, with the same values", async () => {
    const state = ["--state", join(folder, "killed.checkpoint"), "--checkpoint", "5"];
    const { code } = await interrupt("SIGKILL", 8, state);
    expect(code).toBeNull();
    const again = barLines(service(...state, "--bars", "10").lines);
    const first = uninterrupted.indexOf(again[0]!);
    expect(first).toBeGreaterThanOrEqual(5);
    expect(first % 5).toBe(0);
    expect(again).toEqual(uninterrupted.slice(first, first + 10));
  });

  test("has what it trades on in every row, however small the budget", () => {
    const { lines } = service("--bars", `${BARS}`, "--budget", "0.001", "--skip");
    expect(barLines(lines)).toEqual(uninterrupted);
    expect(lines.at(-1)).toMatch(/^40 bars: 40 on time, 0 late, 120 skipped;/);
  });

  test("ends with the feed, and has nothing to do after that", () => {
    const state = ["--state", join(folder, "whole.checkpoint"), "--report", "500"];
    expect(run(SERVICE, ...state).lines).toContain("checkpoint after 2018-02-07");
    const again = run(SERVICE, ...state);
    expect(again.status).toBe(0);
    expect(again.lines.at(-1)).toMatch(/^0 bars: /);
  });

  test("says in a line what the user can mend", () => {
    const state = join(folder, "damaged.checkpoint");
    writeFileSync(state, "no checkpoint");
    const damaged = service("--state", state);
    expect(damaged.status).toBe(1);
    expect(damaged.stderr).toMatch(/^E351 the checkpoint is damaged/);
    expect(service("--every", "soon")).toMatchObject({
      status: 1,
      stderr: "--every expects a number, got soon\n",
    });
  });
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
