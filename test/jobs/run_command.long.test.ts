import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { JobFolder, ROOT, realBars } from "./job_folder.ts";

const MAIN = join(ROOT, "dist/src/cli/main.js");
/** More than are evaluated until a signal comes, on a slow machine too. */
const FILES = 200;
const children = new Set<ChildProcess>();

afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  children.clear();
});

/** The built command line, and what it has written so far. */
function start(...args: string[]) {
  const child = spawn(process.execPath, [MAIN, ...args]);
  children.add(child);
  const written = { stdout: "", stderr: "" };
  child.stdout.on("data", (text) => {
    written.stdout += text;
  });
  child.stderr.on("data", (text) => {
    written.stderr += text;
  });
  const ended = once(child, "close").then(([code]) => code as number | null);
  const says = async (text: string) => {
    while (!written.stderr.includes(text)) {
      if (child.exitCode !== null) throw new Error(written.stderr);
      await wait(20);
    }
  };
  return { child, written, ended, says };
}

describe("run", () => {
  test("the log may be for eyes", async () => {
    using folder = new JobFolder();
    folder.addBars(realBars(1, 3)[0]!);
    const { ended, written } = start("run", folder.config, "--once", "--log", "text");
    expect(await ended).toBe(0);
    const lines = written.stderr.trimEnd().split("\n");
    for (const line of lines) expect(line).toMatch(/^\d\d:\d\d:\d\d (info |warn ) [a-z]/);
    expect(
      lines.some((line) => / run done job=bars files=1 rows=36 ms=/.test(line)),
      written.stderr,
    ).toBe(true);
  });

  test.each([
    ["SIGTERM", [], 0],
    ["SIGTERM", ["--once"], 143],
    ["SIGINT", ["--once"], 130],
  ] as const)("%s lets the file under way end, and no more: run %s exits with %d", async (signal, flags, code) => {
    using folder = new JobFolder({ top: "log: { level: debug }" });
    const bars = realBars(FILES, 3);
    for (const text of bars) folder.addBars(text);
    const { child, ended, says, written } = start("run", folder.config, ...flags);
    await says('"msg":"evaluated"');
    child.kill(signal);
    expect(await ended).toBe(code);
    expect(written.stderr).toContain('"msg":"run interrupted"');
    expect(existsSync(join(folder.path, "journal/.lock.pid"))).toBe(false);
    using ledger = await folder.ledger();
    const { committed, isPending, lastRun } = ledger;
    expect([isPending, lastRun?.outcome, lastRun?.files]).toEqual([false, "interrupted", committed.files]);
    expect(committed.files).toBeGreaterThan(0);
    expect(committed.files).toBeLessThan(FILES);
    const rows = await folder.results();
    expect(await folder.runBuilt()).toBeNull();
    const expected = await folder.expected(bars);
    expect(rows).toEqual(expected.slice(0, rows.length));
    expect(await folder.results()).toEqual(expected);
  });

  test("a second signal ends it at once, and nothing is lost", async () => {
    // Compiling them takes longer than the two signals.
    const windows = Array.from({ length: 800 }, (_, at) => `f${at} = ts_rank(close, ${2 + at})`);
    using folder = new JobFolder({ formulas: windows.join("\n") });
    const bars = realBars(2, 3);
    for (const text of bars) folder.addBars(text);
    const { child, ended, says } = start("run", folder.config);
    await says('"msg":"symbols"');
    child.kill("SIGTERM");
    await says('"msg":"stopping"');
    child.kill("SIGTERM");
    await ended;
    expect(child.signalCode).toBe("SIGTERM");
    expect(await folder.runBuilt()).toBeNull();
    expect(await folder.results()).toEqual(await folder.expected(bars));
  });

  test("two runs of one journal refuse", async () => {
    using folder = new JobFolder();
    folder.addBars(realBars(1, 5)[0]!);
    const first = start("run", folder.config);
    await first.says('"msg":"started"');
    const second = start("run", folder.config, "--once");
    expect(await second.ended).toBe(2);
    expect(second.written.stderr).toContain(`process ${first.child.pid} runs the jobs of this journal`);
    const status = start("status", folder.config, "--json");
    expect(await status.ended).toBe(0);
    expect(JSON.parse(status.written.stdout).pid).toBe(first.child.pid);
    // Its run may still write.
    first.child.kill("SIGKILL");
    await first.ended;
  });

  test("logs are lines of JSON", async () => {
    using folder = new JobFolder();
    folder.addBars(realBars(1, 5)[0]!);
    const { ended, written } = start("run", folder.config, "--once");
    expect(await ended).toBe(0);
    const lines = written.stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ msg }) => msg)).toEqual(["symbols", "committed", "run done"]);
    expect(lines[1]).toMatchObject({ level: "info", job: "bars", rows: 60, evaluatedTo: "2013-02-14" });
    expect(written.stdout).toBe("");
  });

  test("a failed run exits with the code of its culprit", async () => {
    using folder = new JobFolder();
    const bars = realBars(1, 5)[0]!;
    folder.addBars(`${bars}${bars.split("\n")[1]}\n`);
    const { ended, written } = start("run", folder.config, "--once");
    expect(await ended).toBe(1);
    expect(written.stderr).toContain("bars-000.csv");
    const status = start("status", folder.config);
    await status.ended;
    expect(status.written.stdout).toContain("failed");
  });
});

test("metrics are served on loopback", async () => {
  using folder = new JobFolder({ top: "metrics: { port: 0 }" });
  folder.addBars(realBars(1, 5)[0]!);
  const { says, written } = start("run", folder.config);
  await says('"msg":"run done"');
  const port = /"port":(\d+)/.exec(written.stderr)?.[1];
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  const text = await ask("/metrics");
  expect(text).toContain('factorloom_rows_total{job="bars"} 60');
  expect(text).toContain('factorloom_files_total{job="bars"} 1');
  expect(text).toMatch(/factorloom_runs_total\{job="bars",outcome="done"\} \d+/);
  expect(text).toMatch(/factorloom_next_run_seconds\{job="bars"\} \d+/);
  expect(await ask("/healthz")).toBe("ok\n");
  expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404);
});

describe("a dry run and the status", () => {
  test("report the state and change nothing", async () => {
    using folder = new JobFolder();
    const [first, second] = realBars(2, 5) as [string, string];
    folder.addBars(first);
    const before = readdirSync(folder.path);
    const planned = start("run", folder.config, "--dry-run");
    expect(await planned.ended).toBe(0);
    expect(planned.written.stdout).toMatch(/^job {3}factors {2}new files {2}new times .*\nbars +5 +1 +5 +- /);
    expect(readdirSync(folder.path)).toEqual(before);
    const never = start("status", folder.config);
    expect(await never.ended).toBe(0);
    expect(never.written.stdout).toMatch(/bars +never +- +0 +0 +0 +-/);

    expect(await folder.runBuilt()).toBeNull();
    folder.addBars(second);
    const status = start("status", folder.config, "--json");
    expect(await status.ended).toBe(0);
    expect(JSON.parse(status.written.stdout)).toMatchObject({
      pid: null,
      jobs: [
        { job: "bars", outcome: "done", files: 1, rows: 60, skipped: 0, position: "2013-02-14", error: null },
      ],
    });
    const next = start("run", folder.config, "--dry-run", "--json");
    await next.ended;
    expect(JSON.parse(next.written.stdout)).toMatchObject([{ factors: 5, newFiles: 1, newRows: 5 }]);
  });

  test("the status with verify exits with 1 where a sink differs, and a dry run refuses", async () => {
    using folder = new JobFolder();
    folder.addBars(realBars(1, 3)[0]!);
    expect(await folder.runBuilt()).toBeNull();
    const healthy = start("status", folder.config, "--verify");
    expect(await healthy.ended).toBe(0);
    expect(healthy.written.stdout).toContain("bars: the sink holds what its ledger says");
    rmSync(join(folder.path, "out/date=2013-02-11/part-00000001.parquet"));
    const harmed = start("status", folder.config, "--verify", "--json");
    expect(await harmed.ended).toBe(1);
    expect(JSON.parse(harmed.written.stdout).jobs[0].sink.differs).toMatch(
      /E367 .*part-00000001.parquet is missing/,
    );
    const planned = start("run", folder.config, "--dry-run");
    expect(await planned.ended).toBe(1);
    expect(planned.written.stderr).toContain("E367");
  });

  test("a dry run reports mistakes in formulas", async () => {
    using folder = new JobFolder({ formulas: "x = ts_meen(close, 3)\n" });
    folder.addBars(realBars(1, 5)[0]!);
    const { ended, written } = start("run", folder.config, "--dry-run");
    expect(await ended).toBe(1);
    expect(written.stderr).toContain("a.factors:1:5");
  });
});
