import type { Command } from "commander";
import { EXIT_CODES } from "../../errors.ts";
import type { JobStatus, RunStatus } from "../../jobs/service/status.ts";
import { counted } from "../../text/counted.ts";
import { print } from "../terminal/terminal.ts";
import { tableOf } from "../terminal/text_table.ts";

export function addStatus(program: Command): void {
  program
    .command("status")
    .description("show the progress of the jobs of a configuration")
    .argument("<config>", "YAML file of jobs")
    .option("--verify", "check all results in the sinks against the ledgers; exits with 1 if they differ")
    .option("--json", "print the result as JSON")
    .action(status);
}

interface StatusFlags {
  readonly json?: true;
  readonly verify?: true;
}

async function status(file: string, { json, verify }: StatusFlags): Promise<void> {
  const [{ readRunConfig }, { readStatus }] = await Promise.all([
    import("../../jobs/config/read_config.ts"),
    import("../../jobs/service/status.ts"),
  ]);
  const result = await readStatus(await readRunConfig(file), Date.now(), { verify: verify === true });
  print(json ? JSON.stringify(result) : statusText(result));
  if (result.jobs.some(({ sink, waiting }) => waiting !== null || (sink !== null && sink.differs !== null)))
    process.exitCode = EXIT_CODES.input;
}

function statusText({ pid, jobs }: RunStatus): string {
  const table = tableOf(jobs, {
    job: ({ job }) => job,
    "last run": ({ lastRun }) => lastRun ?? "never",
    outcome: ({ outcome }) => outcome ?? "-",
    files: ({ files }) => files,
    rows: ({ rows }) => rows,
    skipped: ({ skipped }) => skipped,
    "evaluated up to": ({ position }) => position ?? "-",
    "next run": ({ nextRun }) => nextRun ?? "never",
  });
  const errors = jobs.flatMap(({ job, error }) => (error === null ? [] : [`${job}: ${error}`]));
  const waiting = jobs.flatMap(({ job, waiting }) =>
    waiting === null ? [] : [`${job}: ${waitingText(job, waiting)}`],
  );
  const sinks = jobs.flatMap(({ job, sink }) =>
    sink === null ? [] : [`${job}: ${sink.differs ?? "the sink holds what its ledger says"}`],
  );
  const runner = pid === null ? "no process runs these jobs" : `process ${pid} runs these jobs`;
  return [table, runner, ...errors, ...waiting, ...sinks].join("\n");
}

function waitingText(job: string, { changed, factors, cells }: NonNullable<JobStatus["waiting"]>): string {
  const work = `${counted(factors.length, "factor")} of ${cells.toLocaleString("en")} values`;
  return `${changed} changed: ${work} wait to be made again, which \`run --once --apply ${job}\` does; new rows go on as before`;
}
