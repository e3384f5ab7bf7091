import type { Command } from "commander";
import type { LogFormat } from "../../jobs/service/log.ts";
import { expectJob, logOption, runAndLog } from "./run.ts";

export function addRepair(program: Command): void {
  program
    .command("repair")
    .description("make all results of a job again from its input, whatever its sink holds")
    .argument("<config>", "YAML file of jobs")
    .argument("<job>", "name of the job")
    .addOption(logOption())
    .action(repair);
}

async function repair(file: string, name: string, { log }: { readonly log?: LogFormat }): Promise<void> {
  const { readRunConfig } = await import("../../jobs/config/read_config.ts");
  const config = await readRunConfig(file);
  expectJob(config, name, "JOB");
  const jobs = config.jobs.filter((job) => job.name === name);
  await runAndLog({ ...config, jobs }, { once: true, repairs: true }, log);
}
