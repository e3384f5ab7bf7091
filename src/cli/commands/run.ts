import { type Command, Option } from "commander";
import type { RunConfig } from "../../jobs/config/config.ts";
import type { LogFormat } from "../../jobs/service/log.ts";
import type { RunJobsOptions } from "../../jobs/service/run_jobs.ts";
import type { PlannedRun } from "../../jobs/service/status.ts";
import { commandLineWrong } from "../terminal/command_line.ts";
import { exitCodeOf } from "../terminal/failure.ts";
import { interruptionSignal } from "../terminal/interruption.ts";
import { print } from "../terminal/terminal.ts";
import { tableOf } from "../terminal/text_table.ts";

interface RunOptions {
  readonly once?: true;
  readonly dryRun?: true;
  readonly json?: true;
  readonly apply?: string;
  readonly log?: LogFormat;
}

export function addRun(program: Command): void {
  program
    .command("run")
    .description("evaluate jobs on schedule, each new row once, even if the process is killed")
    .argument("<config>", "YAML file of jobs")
    .option("--once", "run every job once, now, and end")
    .option("--dry-run", "check everything and say what would be run; change nothing")
    .option("--apply <job>", "with --once: make the results of this job again, however much that is")
    .option("--json", "print what --dry-run finds as JSON")
    .addOption(logOption())
    .action(run);
}

export function addRepair(program: Command): void {
  program
    .command("repair")
    .description("make all results of a job again from its input, whatever its sink holds")
    .argument("<config>", "YAML file of jobs")
    .argument("<job>", "name of the job")
    .addOption(logOption())
    .action(repair);
}

async function repair(file: string, name: string, { log }: Pick<RunOptions, "log">): Promise<void> {
  const { readRunConfig } = await import("../../jobs/config/read_config.ts");
  const config = await readRunConfig(file);
  expectJob(config, name, "JOB");
  const jobs = config.jobs.filter((job) => job.name === name);
  await runAndLog({ ...config, jobs }, { once: true, repairs: true }, log);
}

async function run(file: string, { once, dryRun, json, apply, log }: RunOptions): Promise<void> {
  if (json && !dryRun)
    throw commandLineWrong("--json is for --dry-run", "the log says what runs do: --log json");
  if (apply !== undefined && !once)
    throw commandLineWrong(
      "--apply is for --once",
      "end the process that runs the jobs, then run --once --apply JOB",
    );
  const { readRunConfig } = await import("../../jobs/config/read_config.ts");
  const config = await readRunConfig(file);
  if (apply !== undefined) expectJob(config, apply, "--apply");
  if (dryRun) {
    const { planRuns } = await import("../../jobs/service/status.ts");
    const planned = await planRuns(config, Date.now());
    print(json ? JSON.stringify(planned) : plannedText(planned));
    return;
  }
  await runAndLog(config, { once: once === true, apply }, log);
}

function logOption(): Option {
  const text = "lines of the log on stderr (default: text on a terminal, else json)";
  return new Option("--log <format>", text).choices(["json", "text"]);
}

/** @throws UsageError E500 for a name that no job has. */
function expectJob({ jobs }: RunConfig, wanted: string, option: string): void {
  const names = jobs.map(({ name }) => name);
  if (!names.includes(wanted))
    throw commandLineWrong(`${option}: there is no job ${wanted}`, `its jobs are ${names.join(", ")}`);
}

/** Runs jobs until a signal of the process, with their log on stderr. The exit code is that of what fails. */
async function runAndLog(
  config: RunConfig,
  options: Omit<RunJobsOptions, "stop" | "log">,
  log?: LogFormat,
): Promise<void> {
  const stop = interruptionSignal();
  const [{ runJobs }, { openLog }] = await Promise.all([
    import("../../jobs/service/run_jobs.ts"),
    import("../../jobs/service/log.ts"),
  ]);
  const format = log ?? (process.stderr.isTTY === true ? "text" : "json");
  const failure = await runJobs(config, { ...options, stop, log: openLog(config.logLevel, format) });
  // The failure is in the log.
  if (failure) process.exitCode = exitCodeOf(failure);
}

function plannedText(planned: readonly PlannedRun[]): string {
  return tableOf(planned, {
    job: ({ job }) => job,
    factors: ({ factors }) => factors ?? "?",
    "new files": ({ newFiles }) => newFiles,
    "new times": ({ newRows }) => newRows,
    "made again": ({ rebuild }) => (rebuild === null ? "-" : rebuild.factors.join(", ") || "columns"),
    "evaluated up to": ({ position }) => position ?? "-",
    "next run": ({ nextRun }) => nextRun ?? "never",
  });
}
