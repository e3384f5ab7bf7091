import type { Command } from "commander";
import { expectJob, runAndLog } from "./run.ts";

export function addRepair(program: Command): void {
  program
    .command("repair")
    .description("make all results of a job again from its input, whatever its sink holds")
    .argument("<config>", "YAML file of jobs")
    .argument("<job>", "name of the job")
    .action(repair);
}

async function repair(file: string, name: string): Promise<void> {
  const { readRunConfig } = await import("../../jobs/config/read_config.ts");
  const config = await readRunConfig(file);
  expectJob(config, name, "JOB");
  const jobs = config.jobs.filter((job) => job.name === name);
  await runAndLog({ ...config, jobs }, { once: true, repairs: true });
}
