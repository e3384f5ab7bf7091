import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { readHistory } from "../../src/jobs/job_store.ts";
import { JobFolder, ROOT, realBars } from "./job_folder.ts";

/** Of each sink; `KILLS=100 vitest run test/jobs/kill.test.ts` for more. */
const KILLS = Number(process.env["KILLS"] ?? 15);
const SEED = Number(process.env["SEED"] ?? Date.now() % 2 ** 31);
const SINKS = ["parquet", "duckdb"] as const;
const TIMEOUT_MS = 60_000 + KILLS * 6_000;

/** Numbers from 0 to 1, the same ones for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return ((state >>> 8) % 65_536) / 65_536;
  };
}

/** Runs the jobs until some lines of the log and a moment more have come, then kills the process. */
async function runAndKill(folder: JobFolder, lineCount: number, moreMs: number): Promise<void> {
  const child = spawn(process.execPath, [join(ROOT, "dist/src/cli/main.js"), "run", folder.config], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exit = once(child, "exit");
  try {
    let count = 0;
    for await (const _ of createInterface(child.stderr)) if (++count >= lineCount) break;
    expect(child.exitCode, "it ran until it was killed").toBeNull();
    await wait(moreMs);
  } finally {
    child.kill("SIGKILL");
    await exit;
  }
}

describe("a process that is killed", () => {
  test.each(SINKS)(
    `at ${KILLS} moments of chance leaves each row once: %s`,
    async (sink) => {
      using folder = new JobFolder({ sink, top: "log: { level: debug }" });
      const random = randomNumbers(SEED);
      const bars = realBars(2 * KILLS, 2);
      const waiting = [...bars];
      for (let count = 0; count < KILLS; count += 1) {
        folder.addBars(waiting.shift()!);
        folder.addBars(waiting.shift()!);
        await runAndKill(folder, Math.ceil(16 * random()), 60 * random());
      }
      const { sequence } = await readHistory(join(folder.path, "journal"), "bars");
      expect(sequence, "the killed processes got something done").toBeGreaterThan(0);
      expect(await folder.run(), `SEED=${SEED}`).toBeNull();
      expect(await folder.results(), `SEED=${SEED}`).toEqual(await folder.expected(bars));
    },
    TIMEOUT_MS,
  );

  const STEPS = ["staged", "checkpointed", "prepared", "published"] as const;

  test.each(SINKS)("after each step leaves each row once: %s", async (sink) => {
    using folder = new JobFolder({ sink });
    const bars = realBars(STEPS.length, 3);
    for (const [index, step] of STEPS.entries()) {
      folder.addBars(bars[index]!);
      const driver = join(import.meta.dirname, "killed_at_step.ts");
      const child = spawn(process.execPath, [driver, folder.config, step], { stdio: "ignore" });
      expect((await once(child, "exit"))[1], step).toBe("SIGKILL");
    }
    expect(await folder.run()).toBeNull();
    expect(await folder.results()).toEqual(await folder.expected(bars));
  }, 60_000);
});
