import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readHistory } from "../../src/jobs/journal/job_store.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { JobFolder, realBars } from "./job_folder.ts";

/** Of one day and 20 symbols each. */
const FILES = trials(20, 400);
const KILLS = trials(2, 10);
const SYMBOLS = 20;

test(
  `a catch-up of ${FILES} small files that is killed at ${KILLS} moments of chance gives the rows of eval`,
  async () => {
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
    expect(names.filter((name) => name.startsWith("checkpoint")).length, SEED).toBeLessThanOrEqual(2);
  },
  trials(300_000, 1_800_000),
);
