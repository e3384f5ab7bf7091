import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test, vi } from "vitest";
import { trials } from "../support/trials.ts";
import { FakeClock } from "./fake_clock.ts";
import { JobFolder, keptLog, realBars, SILENT } from "./job_folder.ts";

const START_MS = Date.parse("2024-01-02T09:30:00Z");

test("runs on schedule that find nothing new leave the ledger as large as it was, and read no table of groups again", async () => {
  using folder = new JobFolder({ formulas: "a = close" });
  const formulas = join(folder.path, "a.factors");
  folder.addBars(realBars(1, 2, 2)[0]!);
  const clock = new FakeClock(new Date(START_MS).toISOString());
  expect(await folder.run(SILENT, {}, { clock })).toBeNull();
  const journal = join(folder.path, "journal/bars");
  const bytes = () => statSync(join(journal, "ledger.sqlite")).size;
  const before = bytes();
  const stop = new AbortController();
  const { log, messages } = keptLog();
  const service = folder.run(log, {}, { once: false, stop: stop.signal, clock });
  const runs = trials(20, 1_000);
  const databases = vi.spyOn(DuckDBInstance, "create");
  let databasesOfFirst = 0;
  const ended = () => messages.filter((message) => /^run (done|failed)/.test(message)).length;
  // A due time that comes while a run is under way is skipped.
  for (let second = 1; ended() < runs; second += 1) {
    if (ended() <= 1) databasesOfFirst = databases.mock.calls.length;
    if (ended() >= runs - 3) rmSync(formulas, { force: true });
    await clock.advanceTo(new Date(START_MS + 1_000 * second).toISOString());
  }
  stop.abort(new Error("stopped"));
  await service;
  expect(bytes()).toBe(before);
  expect(databasesOfFirst).toBeGreaterThan(0);
  expect(databases.mock.calls.length).toBe(databasesOfFirst);
  databases.mockRestore();
  const names = ["checkpoint-00000001", "ledger.sqlite", expect.stringMatching(/^rows-/)];
  expect(readdirSync(journal).sort()).toEqual(names);
  using ledger = await folder.ledger();
  const { lastRun, lastSuccess, committed } = ledger;
  expect([lastRun?.outcome, lastSuccess?.outcome, committed.files]).toEqual(["failed", "done", 1]);
  expect(lastSuccess!.files).toBe(0);
  expect(lastRun!.startedAt > lastSuccess!.startedAt).toBe(true);
});
