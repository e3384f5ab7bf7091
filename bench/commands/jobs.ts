import { join, resolve } from "node:path";
import type { Command } from "commander";
import { withProgress } from "../../src/cli/terminal/progress.ts";
import { print } from "../../src/cli/terminal/terminal.ts";
import { formatTable } from "../../src/cli/terminal/text_table.ts";
import { threadsOfMachine } from "../../src/evaluation/threads_of_machine.ts";
import type { JobVariant } from "../jobs.ts";

interface JobFlags {
  readonly files: number;
  readonly rows: number;
  readonly lanes: number;
  readonly threads?: number;
  readonly repeats: number;
  readonly base?: string;
  readonly formulaFiles?: number;
}

/** The catch-up of a job: beside a version before, or of several formula files beside one. Needs `npm run build`. */
export function addJobs(bench: Command, parseCount: (text: string) => number): void {
  bench
    .command("jobs")
    .description("a job that catches up over files of bars, as a process from nothing, variants in turn")
    .option("--files <count>", "files of input", parseCount, 40)
    .option("--rows <count>", "times of a file", parseCount, 4)
    .option("--lanes <count>", "instruments", parseCount, 4096)
    .option("--threads <count>", "threads (default: one per core, less one from 4 on)", parseCount)
    .option("--repeats <count>", "runs of each variant", parseCount, 5)
    .option("--base <folder>", "a built checkout of a version before, to run in turn with this one")
    .option(
      "--formula-files <count>",
      "100 factors in this number of files, in turn with one file",
      parseCount,
    )
    .action(runJobsBench);
}

async function runJobsBench(flags: JobFlags): Promise<void> {
  const { measureCatchUp, alpha101, sharingFormulas } = await import("../jobs.ts");
  const {
    files,
    rows: rowsPerFile,
    lanes,
    threads = threadsOfMachine(),
    repeats,
    base,
    formulaFiles,
  } = flags;
  const cliOf = (folder: string) => join(folder, "dist/src/cli/main.js");
  const own = cliOf(resolve(import.meta.dirname, "../.."));
  const variant = (name: string, cli: string, formulas: JobVariant["formulas"]) => ({ name, cli, formulas });
  const variants =
    formulaFiles === undefined
      ? [
          ...(base === undefined ? [] : [variant("before", cliOf(resolve(base)), alpha101())]),
          variant("now", own, alpha101()),
        ]
      : [
          variant("one file", own, sharingFormulas(1)),
          variant(`${formulaFiles} files`, own, sharingFormulas(formulaFiles)),
        ];
  const shape = { files, rowsPerFile, lanes, threads, repeats };
  const times = await withProgress("jobs", (onProgress) => measureCatchUp(shape, variants, onProgress));
  const [first] = times.map(({ seconds }) => medianOf(seconds));
  const lines = times.map(({ name, seconds }) => {
    const ratio = medianOf(seconds) / first!;
    return [name, ...[medianOf(seconds), Math.min(...seconds), ratio].map((one) => one.toFixed(3))];
  });
  print(formatTable(["variant", "median, s", "least, s", "to the first"], lines));
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}
