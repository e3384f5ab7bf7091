/**
 * A process that runs jobs once and is killed: `CONFIG STEP` after that step; `CONFIG STEP rename N`
 * before the n-th file is published, `CONFIG STEP ms N` N milliseconds after the results are prepared, at the
 * latest after the step.
 */
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { readRunConfig } from "../../src/jobs/config/read_config.ts";
import type { Log } from "../../src/jobs/service/log.ts";
import { runJobs } from "../../src/jobs/service/run_jobs.ts";

const [config, wanted, within, number] = process.argv.slice(2) as [string, string, string?, string?];
const { rename } = fs;
let renamesLeft = Number.POSITIVE_INFINITY;
fs.rename = async (...paths) => {
  renamesLeft -= 1;
  if (renamesLeft === 0) die();
  await rename(...paths);
};
syncBuiltinESMExports();

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

const log: Log = {
  debug(fields) {
    const { step } = fields as { step?: string };
    if (step === wanted) die();
    if (step !== "prepared") return;
    if (within === "rename") renamesLeft = Number(number);
    if (within === "ms") setTimeout(die, Number(number));
  },
  info() {},
  warn() {},
  error() {},
};
await runJobs(await readRunConfig(config), { once: true, stop: new AbortController().signal, log });
