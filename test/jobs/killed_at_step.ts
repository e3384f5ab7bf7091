/** A process that runs jobs once and is killed as soon as a certain step is done: `CONFIG STEP`. */
import type { Log } from "../../src/jobs/log.ts";
import { readRunConfig } from "../../src/jobs/read_config.ts";
import { runJobs } from "../../src/jobs/run_jobs.ts";

const [config, wanted] = process.argv.slice(2) as [string, string];
const log: Log = {
  debug(fields) {
    if ((fields as { step?: string }).step === wanted) process.kill(process.pid, "SIGKILL");
  },
  info() {},
  warn() {},
  error() {},
};
await runJobs(await readRunConfig(config), { once: true, stop: new AbortController().signal, log });
