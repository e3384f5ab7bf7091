import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { JobFolder, ROOT, realBars, type Sink } from "./job_folder.ts";

const SINKS = ["parquet", "arrow", "duckdb"] as const;
/** Of each sink, at any moment. */
const CHANCE_KILLS = trials(1, 13);
/** Of each sink, at moments that are known; of four three come between the records `prepared` and `committed`. */
const STEP_KILLS = trials(2, 20);
/** A file of three days has three parts. */
const DAYS = 3;
/** Lines of the log before results of a run are published, besides one for each file. */
const RUN_LINES = 8;

const random = new Seeded();
const SEED = `SEED=${random.seed}`;

/** Runs the jobs until such a line of the log has come, the first is line 1, and a moment more, then kills the process. */
async function runAndKill(
  folder: JobFolder,
  isLine: (line: string, number: number) => boolean,
  moreMs: number,
): Promise<void> {
  const child = spawn(process.execPath, [join(ROOT, "dist/src/cli/main.js"), "run", folder.config], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exit = once(child, "exit");
  try {
    let count = 0;
    for await (const line of createInterface(child.stderr)) if (isLine(line, ++count)) break;
    expect(child.exitCode, "it ran until it was killed").toBeNull();
    await wait(moreMs);
  } finally {
    child.kill("SIGKILL");
    await exit;
  }
}

/** A moment as `killed_at_step.ts` takes it. */
type Moment = readonly [step: "staged" | "checkpointed" | "prepared" | "published", ...within: string[]];

const BEFORE: readonly Moment[] = [["staged"], ["checkpointed"]];

/** Moments between the records `prepared` and `committed`. */
function publishing(sink: Sink): readonly Moment[] {
  const within: Moment =
    sink === "duckdb"
      ? ["published", "ms", String(random.below(16))]
      : ["published", "rename", String(1 + random.below(sink === "parquet" ? DAYS : 1))];
  return [["prepared"], ["published"], within, within];
}

const oneOf = (moments: readonly Moment[]): Moment => moments[random.below(moments.length)]!;

describe("a process that is killed", () => {
  test.each(SINKS)(`at ${CHANCE_KILLS} moments at random leaves each row once: %s`, async (sink) => {
    using folder = new JobFolder({ sink, top: "log: { level: debug }" });
    const bars = realBars(2 * CHANCE_KILLS, 2);
    let sequence = 0;
    let waiting = 0;
    for (let count = 0; count < CHANCE_KILLS; count += 1) {
      folder.addBars(bars[2 * count]!);
      folder.addBars(bars[2 * count + 1]!);
      waiting += 2;
      // Half of the kills come after results are published, whatever has piled up; the last one does.
      const lineCount = 2 * (RUN_LINES + waiting);
      const chosen = 1 + random.below(lineCount);
      const isLast = count === CHANCE_KILLS - 1;
      await runAndKill(
        folder,
        (line, number) => (isLast ? line.includes('"msg":"committed"') : number >= chosen),
        60 * random.uniform(),
      );
      using ledger = await folder.ledger();
      if (ledger.sequence > sequence) waiting = 0;
      sequence = ledger.sequence;
    }
    expect(sequence, SEED).toBeGreaterThan(0);
    expect(await folder.runBuilt(), SEED).toBeNull();
    expect(await folder.results(), SEED).toEqual(await folder.expected(bars));
  });

  test.each(
    SINKS,
  )(`at ${STEP_KILLS} moments before results are published and while they are leaves each row once: %s`, async (sink) => {
    using folder = new JobFolder({ sink });
    const bars = realBars(STEP_KILLS, DAYS);
    let pending = 0;
    for (const [index, text] of bars.entries()) {
      const isPublishing = index % 4 !== 0;
      const moment = oneOf(isPublishing ? publishing(sink) : BEFORE);
      const name = `${SEED} kill ${index}: ${moment.join(" ")}`;
      folder.addBars(text);
      const driver = join(import.meta.dirname, "killed_at_step.ts");
      const child = spawn(process.execPath, [driver, folder.config, ...moment], { stdio: "ignore" });
      expect((await once(child, "exit"))[1], name).toBe("SIGKILL");
      using ledger = await folder.ledger();
      expect(ledger.isPending, name).toBe(isPublishing);
      if (ledger.isPending) pending += 1;
    }
    expect(pending, "kills between prepared and committed").toBe(STEP_KILLS - Math.ceil(STEP_KILLS / 4));
    expect(await folder.run(), SEED).toBeNull();
    expect(await folder.results(), SEED).toEqual(await folder.expected(bars));
  });
});
