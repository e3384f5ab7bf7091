import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileFolder } from "../support/file_folder.ts";

export const ROOT = join(import.meta.dirname, "../..");
export const SERVICE = join(ROOT, "examples/service/service.ts");
/** Bars of the runs that are compared. */
export const BARS = 40;

// Every test starts processes, each of which reads the bars.

export const folder = fileFolder();

/** Runs an example to its end, outside the project: what it reads lies beside it, not in the working folder. */
export function run(script: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  return { status, stderr, lines: stdout.trimEnd().split("\n") };
}

export const service = (...args: string[]) => run(SERVICE, "--report", "1", ...args);

export const barLines = (lines: readonly string[]) => lines.filter((line) => line.includes(" top "));
export const dateOf = (line: string | undefined) => line?.slice(0, 10);
