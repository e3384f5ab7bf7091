/**
 * A process that runs jobs once in batches of at least ROWS rows and is killed MS milliseconds after EVENTS
 * events: `CONFIG ROWS EVENTS MS`.
 */

import { readRunConfig } from "../../src/jobs/config/read_config.ts";
import type { Log } from "../../src/jobs/service/log.ts";
import { runJobs } from "../../src/jobs/service/run_jobs.ts";

const [config, rows, events, ms] = process.argv.slice(2) as [string, string, string, string];
let left = Number(events);

const onLine = () => {
  left -= 1;
  if (left === 0) setTimeout(() => process.kill(process.pid, "SIGKILL"), Number(ms));
};
const log: Log = { debug: onLine, info: onLine, warn: onLine, error: onLine };
await runJobs(await readRunConfig(config), {
  once: true,
  stop: new AbortController().signal,
  log,
  limits: { rows: Number(rows), ms: 5_000 },
});
