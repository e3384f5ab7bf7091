import type { Command } from "commander";
import { EXIT_CODES } from "../../errors.ts";
import type { JobStatus, RunStatus } from "../../jobs/service/status.ts";
import { counted } from "../../text/counted.ts";
import { print } from "../terminal/terminal.ts";
import { tableOf } from "../terminal/text_table.ts";

export function addStatus(program: Command): void {
  program
    .command("status")
    .description(
      "show the progress of the jobs of a configuration; exits with 1 if the last run of one failed",
    )
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
  const nowMs = Date.now();
  const result = await readStatus(await readRunConfig(file), nowMs, { verify: verify === true });
  print(json ? JSON.stringify(result) : statusText(result, nowMs));
  const isWrong = ({ outcome, sink, waiting }: JobStatus) =>
    outcome === "failed" || waiting !== null || (sink !== null && sink.differs !== null);
  if (result.jobs.some(isWrong)) process.exitCode = EXIT_CODES.input;
}

function statusText({ pid, jobs }: RunStatus, nowMs: number): string {
  const table = tableOf(jobs, {
    job: ({ job }) => job,
    "last run": ({ lastRun }) => lastRun ?? "never",
    outcome: ({ outcome }) => outcome ?? "-",
    files: ({ files }) => files,
    rows: ({ rows }) => rows,
    skipped: ({ skipped }) => skipped,
    "evaluated up to": ({ position }) => position ?? "-",
    age: ({ positionAgeMs }) => (positionAgeMs === null ? "-" : ageText(positionAgeMs)),
    "next run": ({ nextRun }) => nextRun ?? "never",
  });
  const errors = jobs.flatMap(({ job, error }) => (error === null ? [] : [`${job}: ${error}`]));
  const notes = jobs.flatMap((job) => notesOf(job, nowMs).map((note) => `${job.job}: ${note}`));
  const waiting = jobs.flatMap(({ job, waiting }) =>
    waiting === null ? [] : [`${job}: ${waitingText(job, waiting)}`],
  );
  const sinks = jobs.flatMap(({ job, sink }) =>
    sink === null ? [] : [`${job}: ${sink.differs ?? "the sink holds what its ledger says"}`],
  );
  const runner = pid === null ? "no process runs these jobs" : `process ${pid} runs these jobs`;
  return [table, runner, ...notes, ...errors, ...waiting, ...sinks].join("\n");
}

/** What a reader should know of a job that does not fail. */
function notesOf({ skipped, newestSkipped, unserved, noInput }: JobStatus, nowMs: number): string[] {
  const named = newestSkipped.map(
    ({ path, reason, since }) => `${path}, ${ageText(nowMs - Date.parse(since))} ago: ${reason}`,
  );
  return [
    ...(noInput === null ? [] : [`the source has no input: ${noInput}`]),
    ...(unserved === null ? [] : [`${counted(unserved.count, "run")} overdue since ${unserved.first}`]),
    ...(skipped === 0 ? [] : [`${counted(skipped, "file")} passed over: ${named.join("; ")}`]),
    ...(skipped > named.length ? [`and ${counted(skipped - named.length, "older one")}`] : []),
  ];
}

function ageText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 120) return counted(minutes, "minute");
  return minutes < 2_880
    ? counted(Math.floor(minutes / 60), "hour")
    : counted(Math.floor(minutes / 1_440), "day");
}

function waitingText(job: string, { changed, factors, cells }: NonNullable<JobStatus["waiting"]>): string {
  const work = `${counted(factors.length, "factor")} of ${cells.toLocaleString("en")} values`;
  return `${changed} changed: ${work} wait to be made again, which \`run --once --apply ${job}\` does; new rows go on as before`;
}
