import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readHistory } from "../../src/jobs/journal/job_store.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { JobFolder, realBars } from "./job_folder.ts";

/** Of one day and 20 symbols each. */
const FILES = trials(20, 400);
const KILLS = trials(1, 10);
const SYMBOLS = 20;
/** With names that follow times and names that do not, with a file that is wrong and without. */
const ORDERS = trials(2, 60);

test(`a catch-up of ${FILES} small files that is killed at ${KILLS} moments of chance gives the rows of eval`, async () => {
  const random = new Seeded();
  const SEED = `SEED=${random.seed}`;
  using folder = new JobFolder();
  const bars = realBars(FILES, 1, SYMBOLS);
  for (const text of bars) folder.addBars(text);
  const driver = join(import.meta.dirname, "killed_in_catch_up.ts");
  const done: number[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    // Every file makes two events, each batch some more: this number is reached before the end.
    const events = 1 + random.below(FILES / KILLS);
    const rows = SYMBOLS * (1 + random.below(12));
    const args = [driver, folder.config, String(rows), String(events), String(random.below(30))];
    const child = spawn(process.execPath, args, { stdio: "ignore" });
    expect((await once(child, "exit"))[1], `${SEED} kill ${kill}`).toBe("SIGKILL");
    done.push((await readHistory(join(folder.path, "journal"), "bars")).committed.files);
  }
  console.info(`${SEED}: committed after each kill:`, done.join(" "));
  expect(await folder.run(), SEED).toBeNull();
  const { committed, outputs } = await readHistory(join(folder.path, "journal"), "bars");
  expect([committed.files, committed.rows], SEED).toEqual([FILES, FILES * SYMBOLS]);
  expect(outputs, SEED).toHaveLength(FILES);
  expect(await folder.results(), SEED).toEqual(await folder.expected(bars));
  const names = readdirSync(join(folder.path, "journal/bars"));
  expect(
    names.filter((name) => name.startsWith("checkpoint")),
    SEED,
  ).toHaveLength(1);
});

/** Ways to make a file wrong whose times cannot be read then, and to put it right. */
const WRONG = {
  "has no rows": {
    spoil: (path: string) => writeFileSync(path, "date,symbol,close,volume\n"),
    clear: () => {},
  },
  "is a folder": { spoil: (path: string) => mkdirSync(path), clear: (path: string) => rmdirSync(path) },
} as const;

test(`files of ${ORDERS} catch-ups are evaluated in the order of time, and none becomes late by one that is put right`, async () => {
  const random = new Seeded();
  const SEED = `SEED=${random.seed}`;
  for (let trial = 0; trial < ORDERS; trial += 1) {
    const followTime = trial % 2 === 0;
    const wrong = trial % 4 < 2 ? WRONG[random.below(2) === 0 ? "has no rows" : "is a folder"] : null;
    using folder = new JobFolder({ formulas: "moved = delta(close, 2)\nplace = rank(volume)\n" });
    const bars = realBars(4 + random.below(9), 1, 3);
    const names = bars.map((_, at) => `${at + 1}.csv`);
    if (!followTime) names.reverse();
    const bad = random.below(bars.length);
    for (const [at, text] of bars.entries())
      if (wrong === null || at !== bad) folder.addBars(text, names[at]!);
    const note = `${SEED} trial ${trial}: ${names.join(" ")}, wrong: ${wrong === null ? "none" : names[bad]}`;
    if (wrong !== null) {
      const path = join(folder.path, "bars", names[bad]!);
      wrong.spoil(path);
      expect(String(await folder.run()), note).toMatch(/E304|E369/);
      const { committed } = await readHistory(join(folder.path, "journal"), "bars");
      if (followTime) expect(committed.files, note).toBe(bad);
      wrong.clear(path);
      folder.addBars(bars[bad]!, names[bad]!);
    }
    expect(await folder.run(), note).toBeNull();
    expect(await folder.results(), note).toEqual(await folder.expected(bars));
  }
});
