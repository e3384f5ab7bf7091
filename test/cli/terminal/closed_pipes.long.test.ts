import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { fileFolder } from "../../support/file_folder.ts";
import { runCli } from "../run_cli.ts";
import { JOB_FILES } from "./job_files.ts";

const MAIN = fileURLToPath(new URL("../../../dist/src/cli/main.js", import.meta.url));
const folder = fileFolder();
for (const [name, text] of Object.entries(JOB_FILES)) writeFileSync(join(folder, name), text);

/** For each command a call that prints to stdout, and one that prints to stderr. */
const CALLS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  eval: [
    ["a.factors", "--data", "bars.csv"],
    ["a.factors", "--data", "none.csv"],
  ],
  check: [["a.factors"], ["none.factors"]],
  explain: [["a.factors"], ["none.factors"]],
  ops: [[], ["rnak"]],
  bench: [[], ["none"]],
  verify: [
    ["a.factors", "--data", "bars.csv"],
    ["a.factors", "--data", "none.csv"],
  ],
  why: [
    ["a.factors", "--data", "bars.csv", "--factor", "a", "--symbol", "A", "--at", "2020-01-02"],
    ["a.factors", "--data", "bars.csv", "--factor", "a", "--symbol", "A", "--at", "2030-01-02"],
  ],
  nulls: [
    ["a.factors", "--data", "bars.csv"],
    ["a.factors", "--data", "none.csv"],
  ],
  diff: [
    ["bars.csv", "bars.csv"],
    ["bars.csv", "none.csv"],
  ],
  run: [["jobs.yaml", "--dry-run"], ["none.yaml"], ["jobs.yaml", "--once"]],
  status: [["jobs.yaml"], ["none.yaml"]],
  cluster: [["--help"], ["none"]],
  help: [[], ["none"]],
};

interface Ended {
  readonly exitCode: number | null;
  readonly printed: string;
}

/** Runs a call; of `closed` the reader goes before anything is written, of the other stream all is read. */
async function runCall(args: readonly string[], closed: "stdout" | "stderr" | null): Promise<Ended> {
  const child: ChildProcess = spawn(process.execPath, [MAIN, ...args], { cwd: folder });
  let printed = "";
  for (const name of ["stdout", "stderr"] as const) {
    if (name === closed) child[name]?.destroy();
    else child[name]?.setEncoding("utf8").on("data", (text: string) => (printed += text));
  }
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { exitCode, printed };
}

describe("a reader that has gone", () => {
  test("is tried with every command", async () => {
    const { stdout } = await runCli(["--help"]);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) .*$/gm)].map(([, name]) => name as string);
    expect(Object.keys(CALLS).sort()).toEqual(commands.sort());
  });

  const calls = Object.entries(CALLS).flatMap(([name, each]) => each.map((args) => [name, ...args]));
  test.each(calls.map((call) => [call.join(" "), call] as const))("ends no work of %s", async (_, call) => {
    const { exitCode } = await runCall(call, null);
    for (const closed of ["stdout", "stderr"] as const) {
      const ended = await runCall(call, closed);
      expect(ended.exitCode, closed).toBe(exitCode);
      expect(ended.printed, closed).not.toMatch(/EPIPE|^ {4}at |This is a bug/m);
    }
  });

  test.runIf(process.platform === "linux").each([
    ["ops", "--json"],
    ["eval", "--expr", "close", "--data", "examples/data/sp100_daily.csv.gz", "--out", "-"],
  ])("differs from a full disk, which is reported once: %s %s", async (...args) => {
    const child = spawn(process.execPath, [MAIN, ...args], {
      stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    });
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const [exitCode] = (await once(child, "close")) as [number | null];
    expect(exitCode).toBe(2);
    expect(stderr.match(/^E.*\n.*$/gm)).toEqual([
      "E442 stdout cannot be written (ENOSPC: no space left on device, write)\n  make room where it is kept",
    ]);
  });
});
