import { expect, test } from "vitest";
import { startHost } from "../../../src/evaluation/start_host.ts";
import { readRunConfig } from "../../../src/jobs/config/read_config.ts";
import { JobMetrics } from "../../../src/jobs/service/metrics.ts";
import { runJobs } from "../../../src/jobs/service/run_jobs.ts";
import { ENGINE_METRICS, JOB_METRICS, type MetricDefinition } from "../../../src/metrics/definitions.ts";
import { hostMetrics } from "../../../src/metrics/engine_metrics.ts";
import { familiesOf } from "../../metrics/exposition.ts";
import { JobFolder, realBars, SILENT } from "../job_folder.ts";

const namesOf = (definitions: Readonly<Record<string, MetricDefinition>>) =>
  Object.values(definitions).map(({ name }) => name);
const OF_JOBS = namesOf(JOB_METRICS);
const OF_HOST = [...namesOf(ENGINE_METRICS.executors), ...namesOf(ENGINE_METRICS.memory)];

test("jobs have their metrics while no engine has started, then those of the engine as well", async () => {
  const host = await startHost({ threads: 1 });
  let isStarted = false;
  const metrics = new JobMetrics(() => (isStarted ? hostMetrics(host) : null));
  metrics.retries.inc({ job: 'a "b"\\\n' });
  const before = familiesOf(await metrics.text());
  expect([...before.keys()]).toEqual(OF_JOBS);
  expect([...before.get("factorloom_retries_total")!.samples]).toEqual([['{job="a \\"b\\"\\\\\\n"}', 1]]);
  isStarted = true;
  const after = familiesOf(await metrics.text());
  expect([...after.keys()]).toEqual([...OF_JOBS, ...OF_HOST]);
  expect(after.get("factorloom_executors")!.samples.get("")).toBe(1);
  await host.pool.close();
  expect(
    familiesOf(await metrics.text())
      .get("factorloom_executors")!
      .samples.get(""),
  ).toBe(0);
});

test("`run` serves them under the names of the library", async () => {
  using folder = new JobFolder({ top: "metrics: { port: 0 }" });
  folder.addBars(realBars(1, 5)[0]!);
  const stop = new AbortController();
  const port = Promise.withResolvers<number>();
  const done = Promise.withResolvers<void>();
  const info = (fields: object, message: string) => {
    if (message === "metrics") port.resolve((fields as { port: number }).port);
    if (message === "run done") done.resolve();
  };
  const log = { ...SILENT, info };
  const running = runJobs(await readRunConfig(folder.config), { once: false, stop: stop.signal, log });
  await Promise.race([done.promise, running]);
  const answer = await fetch(`http://127.0.0.1:${await port.promise}/metrics`);
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const families = familiesOf(await answer.text());
  stop.abort();
  expect(await running).toBeNull();
  expect([...families.keys()]).toEqual([...OF_JOBS, ...OF_HOST]);
  const sampleOf = (name: string, labels = "") => families.get(name)!.samples.get(labels);
  expect(sampleOf("factorloom_rows_total", '{job="bars"}')).toBe(60);
  expect(sampleOf("factorloom_waiting_runs", '{job="bars"}')).toBe(0);
  expect(sampleOf("factorloom_run_seconds", '_bucket{le="+Inf",job="bars"}')).toBeGreaterThan(0);
  expect(sampleOf("factorloom_executors")).toBe(1);
  expect(sampleOf("factorloom_executor_busy_seconds_total")).toBeGreaterThan(0);
});
