import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { processes } from "../../src/cluster/bridge/process_group.ts";
import type { Cluster } from "../../src/cluster/client/cluster.ts";
import { hasDask } from "../support/needs.ts";
import { until } from "../support/until.ts";
import { countersOf, FaultSetting } from "./support/fault_setting.ts";

/** Executors and workers that end in the middle of a whole run: its table has the bits of the engine, or an error says why. */

const WORKER_TTL_SECONDS = 5;
const MODES = ["store", "memory"] as const;

describe.runIf(await hasDask())("in the middle of a run", () => {
  let setting: FaultSetting;
  let clusters: Readonly<Record<"store" | "memory", Cluster>>;
  beforeAll(async () => {
    const config = { DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL: `${WORKER_TTL_SECONDS}s` };
    setting = await FaultSetting.start({ config });
    clusters = { store: await setting.connect("store"), memory: await setting.connect("memory") };
  });
  afterEach(() => setting.gate.open());
  afterAll(async () => {
    await clusters?.store.close();
    await clusters?.memory.close();
    await setting?.close();
  });

  const bothAreThere = () => until(async () => (await setting.counts()).workers === 2);

  test("every executor is killed: E607 names the task and the worker", async () => {
    const started = await setting.beginHeld(clusters.memory);
    const killed = new Set<number>();
    const failed = started.table.catch((error: Error) => error);
    for (;;) {
      const next = await Promise.race([failed, setting.gate.waiting(1, killed)]);
      if (!Array.isArray(next)) break;
      for (const pid of next) killed.add(pid) && process.kill(pid, "SIGKILL");
    }
    const message =
      /^E607 executors on tcp:\/\/127\.0\.0\.1:\d+ ended twice while they ran \('factorloom_.*stage.*\n {2}look at the worker's log/s;
    expect(await failed).toMatchObject({ name: "ResourceError", message: expect.stringMatching(message) });
    setting.gate.open();
    await setting.expectRight(await setting.begin(clusters.memory));
  });

  test.for(MODES)("%s: an executor is stopped: after the deadline it is replaced", async (mode) => {
    await using cluster = await setting.connect(mode, { taskTimeoutSeconds: 15 });
    const started = await setting.beginHeld(cluster);
    process.kill(started.executor, "SIGSTOP");
    setting.gate.open();
    await setting.expectRight(started);
    expect(countersOf(started)).toEqual({ executorRestarts: 1, deadlineKills: 1 });
  });

  test.for(MODES)("%s: a worker is killed: its nanny starts it again", async (mode) => {
    const started = await setting.beginHeld(clusters[mode]);
    const { pid } = await setting.workerOf(started.executor);
    process.kill(pid, "SIGKILL");
    setting.gate.open();
    await setting.expectRight(started);
    expect(started.run.restarts).toBe(0);
    await bothAreThere();
  });

  test.for(MODES)("%s: a worker is killed with its nanny: the other one goes on", async (mode) => {
    const started = await setting.beginHeld(clusters[mode]);
    const { pid, parent } = await setting.workerOf(started.executor);
    process.kill(parent, "SIGKILL");
    process.kill(pid, "SIGKILL");
    setting.gate.open();
    await setting.expectRight(started);
    expect(started.run.report?.workers).toHaveLength(1);
    expect(started.run.restarts).toBe(0);
    await setting.dask.addWorker();
  });

  test.for(MODES)("%s: a worker stands still for a while: the run waits for it, or not", async (mode) => {
    const started = await setting.beginHeld(clusters[mode]);
    const { pid } = await setting.workerOf(started.executor);
    process.kill(pid, "SIGSTOP");
    setting.gate.open();
    await wait(2_000);
    process.kill(pid, "SIGCONT");
    await setting.expectRight(started);
    await bothAreThere();
  });

  test.for(
    MODES,
  )("%s: a worker stands still for good: it is given up, the other one goes on", async (mode) => {
    const started = await setting.beginHeld(clusters[mode]);
    const { pid } = await setting.workerOf(started.executor);
    process.kill(pid, "SIGSTOP");
    try {
      setting.gate.open();
      await setting.expectRight(started);
      expect(started.run.report?.workers).toHaveLength(1);
    } finally {
      process.kill(pid, "SIGKILL");
    }
    await bothAreThere();
  });

  test("no worker is left: E604 after the time that workers have to answer", async () => {
    await using cluster = await setting.connect("memory", { timeoutSeconds: 15 });
    const started = await setting.beginHeld(cluster);
    const workers = await setting.dask.workerPids();
    const all = (await processes()).filter(({ pid }) => workers.includes(pid));
    for (const { parent } of all) process.kill(parent, "SIGKILL");
    for (const { pid } of all) process.kill(pid, "SIGKILL");
    const start = performance.now();
    setting.gate.open();
    await expect(started.table).rejects.toThrow(/^E604 the Dask scheduler at .* has no workers\n {2}start/);
    expect(performance.now() - start).toBeLessThan(60_000);
    expect(started.run.restarts).toBe(0);
    await setting.dask.addWorker();
    await setting.expectRight(await setting.begin(cluster));
  });
});
