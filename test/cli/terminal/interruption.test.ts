import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../..");

/** The reference takes long enough to be interrupted. */
const LONG = [
  "eval",
  "--expr",
  "ts_kurt(ts_kurt(close, 240), 240)",
  "--data",
  "examples/data/sp100_daily.csv.gz",
  "--kernel",
  "reference",
];

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s ends an evaluation without leaving a file", async (signal, code) => {
  const folder = mkdtempSync(join(tmpdir(), "factorloom-interruption-"));
  try {
    const command = ["dist/src/cli/main.js", ...LONG, "--out", join(folder, "out.parquet")];
    const child = spawn(process.execPath, command, { cwd: root, stdio: "ignore" });
    const exit = once(child, "exit");
    while (readdirSync(folder).length === 0 && child.exitCode === null) await wait(20);
    child.kill(signal);
    expect((await exit)[0]).toBe(code);
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
