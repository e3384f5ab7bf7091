import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { JobStore, readHistory } from "../../src/jobs/journal/job_store.ts";
import type { RanRecord, RunOutcome } from "../../src/jobs/journal/records.ts";
import { fileFolder } from "../support/file_folder.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { FakeClock } from "./fake_clock.ts";
import { JobFolder, keptLog, realBars, SILENT } from "./job_folder.ts";

const root = fileFolder();
const START_MS = Date.parse("2024-01-02T09:30:00Z");

const ran = (second: number, outcome: RunOutcome, files = 0): RanRecord => {
  const [startedAt, endedAt] = [0, 500].map((ms) => new Date(START_MS + 1_000 * second + ms).toISOString());
  const error = outcome === "failed" ? "E301 bars.csv: no such file" : null;
  return { kind: "ran", startedAt: startedAt!, endedAt: endedAt!, outcome, files, rows: 9 * files, error };
};

test("runs on schedule that find nothing new leave the journal as it is", async () => {
  using folder = new JobFolder({ formulas: "a = close" });
  const formulas = join(folder.path, "a.factors");
  folder.addBars(realBars(1, 2, 2)[0]!);
  const clock = new FakeClock(new Date(START_MS).toISOString());
  expect(await folder.run(SILENT, {}, { clock })).toBeNull();
  const journal = join(folder.path, "journal/bars");
  const bytes = () => statSync(join(journal, "journal.jsonl")).size;
  const before = bytes();
  const stop = new AbortController();
  const { log, messages } = keptLog();
  const service = folder.run(log, {}, { once: false, stop: stop.signal, clock });
  const runs = trials(20, 1_000);
  const ended = () => messages.filter((message) => /^run (done|failed)/.test(message)).length;
  // A due time that comes while a run is under way is skipped.
  for (let second = 1; ended() < runs; second += 1) {
    if (ended() >= runs - 3) rmSync(formulas, { force: true });
    await clock.advanceTo(new Date(START_MS + 1_000 * second).toISOString());
  }
  stop.abort(new Error("stopped"));
  await service;
  expect(bytes()).toBe(before);
  expect(readdirSync(journal).sort()).toEqual([
    "checkpoint-00000001",
    "idle_runs.json",
    "journal.jsonl",
    expect.stringMatching(/^rows-/),
  ]);
  const { lastRun, lastSuccess, committed } = await readHistory(join(folder.path, "journal"), "bars");
  expect([lastRun?.outcome, lastSuccess?.outcome, committed.files]).toEqual(["failed", "done", 1]);
  expect(lastSuccess!.files).toBe(0);
  expect(lastRun!.startedAt > lastSuccess!.startedAt).toBe(true);
});

test("a job that was started again knows its last run and its last success", async () => {
  const { seed, below } = new Seeded();
  const outcomes = ["done", "failed", "cancelled", "interrupted"] as const;
  for (let trial = 0; trial < trials(20, 500); trial += 1) {
    const [job, what] = [`job${trial}`, `trial ${trial}, SEED=${seed}`];
    let store = await JobStore.open(root, job);
    // The clock may be set back between them.
    const records = Array.from({ length: 1 + below(12) }, () =>
      ran(below(60), outcomes[below(4)]!, below(4) === 0 ? 1 : 0),
    );
    for (const [index, record] of records.entries()) {
      await store.append(record);
      const done = records.slice(0, index + 1).findLast(({ outcome }) => outcome === "done") ?? null;
      const expected = { lastRun: record, lastSuccess: done };
      expect(store.history, what).toMatchObject(expected);
      if (below(3) > 0) continue;
      expect(await readHistory(root, job), what).toMatchObject(expected);
      await store.close();
      store = await JobStore.open(root, job);
      expect(store.history, what).toMatchObject(expected);
    }
    await store.close();
  }
});

test("a file of idle runs that is damaged forgets them only", async () => {
  const store = await JobStore.open(root, "damaged");
  await store.append(ran(1, "done", 1));
  await store.append(ran(2, "failed"));
  await store.close();
  for (const text of ['[{"kind"', "null", "{}"]) {
    writeFileSync(join(root, "damaged/idle_runs.json"), text);
    expect((await readHistory(root, "damaged")).lastRun).toEqual(ran(1, "done", 1));
  }
});
