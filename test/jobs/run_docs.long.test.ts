import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRunConfig } from "../../src/jobs/config/read_config.ts";
import { runJobs } from "../../src/jobs/service/run_jobs.ts";
import { planRuns, readStatus } from "../../src/jobs/service/status.ts";
import { fileFolder } from "../support/file_folder.ts";
import { ROOT, realBars, SILENT } from "./job_folder.ts";

const root = fileFolder();

const once = { once: true, stop: new AbortController().signal, log: SILENT };

test("the configuration of docs/run.md runs", async () => {
  const text = readFileSync(join(ROOT, "docs/run.md"), "utf8");
  const yaml = /```yaml\n([\s\S]*?)```/.exec(text)?.[1] as string;
  mkdirSync(join(root, "bars"));
  writeFileSync(join(root, "bars/a.csv"), realBars(1, 5)[0]!);
  writeFileSync(join(root, "holidays.txt"), "2026-12-25\n");
  cpSync(join(ROOT, "examples/data/sp100_sectors.csv"), join(root, "sectors.csv"));
  writeFileSync(
    join(root, "alphas.factors"),
    "param lambda = 0.94\nmomentum = rank(delta(close, 2))\nsmooth = lambda * close\nother = open\n",
  );
  // The port may be taken where the tests run; sessions need timestamps, and these bars have dates.
  const changed = yaml.replace("9464 ", "0 ").replace(/^ *restarts: .*\n/m, "");
  writeFileSync(join(root, "jobs.yaml"), changed);
  const config = await readRunConfig(join(root, "jobs.yaml"));
  const [planned] = await planRuns(config, Date.parse("2026-12-24T22:00:00Z"));
  expect(planned).toMatchObject({
    job: "daily",
    factors: 2,
    newFiles: 1,
    nextRun: "2026-12-28T21:30:00.000Z",
  });
  expect(await runJobs(config, once)).toBeNull();
  expect((await readStatus(config, 0)).jobs[0]).toMatchObject({ files: 1, rows: 60, position: "2013-02-14" });
});

test("the example runs", async () => {
  const folder = join(root, "example");
  const text = readFileSync(join(ROOT, "examples/jobs/daily.yaml"), "utf8");
  const moved = text.replaceAll("../../results", folder).replaceAll("../", `${ROOT}/examples/`);
  mkdirSync(folder);
  cpSync(join(ROOT, "examples/jobs/holidays.txt"), join(folder, "holidays.txt"));
  writeFileSync(join(folder, "daily.yaml"), moved);
  const config = await readRunConfig(join(folder, "daily.yaml"));
  expect(await runJobs(config, once)).toBeNull();
  const [status] = (await readStatus(config, Date.parse("2026-12-24T22:00:00Z"))).jobs;
  expect(status).toMatchObject({ outcome: "done", files: 1, rows: 121_855, position: "2018-02-07" });
  expect(status?.nextRun).toBe("2026-12-28T21:30:00.000Z");
});
