import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Cluster } from "../../../src/cluster/client/cluster.ts";
import { compile } from "../../../src/compile.ts";
import { hasDask } from "../../support/needs.ts";
import { until } from "../../support/until.ts";
import { FaultSetting, type StartedRun } from "../support/fault_setting.ts";
import { gated } from "../support/gate.ts";
import { hungry } from "../support/hungry.ts";
import { printed } from "../support/python_script.ts";

/** Executors that take more memory than their worker has, and workers whose executors do not fit. */

const program = compile("a = hungry(gated(rank(close), row)) + ts_mean(volume, 5)", {
  operators: [hungry, gated],
  fields: ["close", "volume", "row"],
});
/** For a worker with two executors, which take 0.7 GB, and none of the hunger. */
const LIMIT_BYTES = 1.4e9;

const isLinux = process.platform === "linux";
const canRun = isLinux && (await hasDask());

describe.runIf(canRun)("an executor that takes all memory of its worker", () => {
  let setting: FaultSetting;
  let cluster: Cluster;
  beforeAll(async () => {
    setting = await FaultSetting.start(
      { workers: 1, threadsPerWorker: 2, memoryLimit: String(LIMIT_BYTES) },
      program,
    );
    cluster = await setting.connect();
  });
  afterEach(() => {
    for (const name of ["hungry-once", "hungry-always"])
      rmSync(join(setting.gate.folder, name), { force: true });
  });
  afterAll(async () => {
    await cluster?.close();
    await setting?.close();
  });

  const makeHungry = (name: string) => writeFileSync(join(setting.gate.folder, name), "");

  test("once: it is ended, its task runs again, and no other executor is lost", async () => {
    makeHungry("hungry-once");
    const started = await setting.begin(cluster);
    await setting.expectRight(started);
    const [{ job, restarts }] = started.run.report!.workers as [WorkerOf];
    expect(restarts, "of the worker").toBe(0);
    expect(job.counters).toMatchObject({ memoryKills: 1, executorRestarts: 1 });
    // One that is idle while memory is short ends, too.
    expect(job.counters.executorStarts).toBeGreaterThanOrEqual(3);
    expect(job.counters.executorBytesMax).toBeGreaterThan(0.5 * LIMIT_BYTES);
    expect(job.counters.executorBytesMax).toBeLessThan(1.5 * LIMIT_BYTES);
    expect(job.counters.workerBytesMax).toBeGreaterThan(50e6);
    expect(job.counters.workerBytesMax).toBeLessThan(0.3 * LIMIT_BYTES);
  });

  test("always: E607 says what it took and what the worker has; the cluster goes on working", async () => {
    makeHungry("hungry-always");
    const started = await setting.begin(cluster);
    const message =
      /^E607 executors on tcp:\S+ ran out of memory twice in \('factorloom_.*slabs.*: the last one took [\d.]+ [GM]iB, with its worker and the other executors 1\.\d GiB; the worker's limit is 1\.3 GiB\n {2}give the worker more memory/s;
    await expect(started.table).rejects.toThrow(message);
    rmSync(join(setting.gate.folder, "hungry-always"));
    const next = await setting.begin(cluster);
    await setting.expectRight(next);
    expect(countsOf(next)).toMatchObject({ memoryKills: 0, executorRestarts: 0 });
  });

  test("Dask knows what executors take as a metric of the worker", async () => {
    const held = await setting.beginHeld(cluster, {}, () => setting.gate.close(0));
    await until(async () => {
      const [metrics] = await metricsOn(setting.dask.address);
      return Number(metrics!["factorloom_executor_bytes"]) > 50e6;
    });
    setting.gate.open();
    await setting.expectRight(held);
  });
});

describe.runIf(canRun)("the watch over the memory of executors", () => {
  /** Runs on a worker with these variables. `meal`: what the first executor takes, in MiB. */
  async function runWith(config: Readonly<Record<string, string>>, meal?: number): Promise<StartedRun> {
    const setting = await FaultSetting.start(
      { workers: 1, threadsPerWorker: 2, memoryLimit: String(LIMIT_BYTES), config },
      program,
    );
    if (meal !== undefined) writeFileSync(join(setting.gate.folder, "hungry-once"), String(meal));
    try {
      await using cluster = await setting.connect();
      const started = await setting.begin(cluster);
      await setting.expectRight(started);
      return started;
    } finally {
      await setting.close();
    }
  }

  test("an executor that does not fit by itself: E607", async () => {
    const none = { FACTORLOOM_MEMORY_TERMINATE: "0.1" };
    await expect(runWith(none)).rejects.toThrow(/^E607 .*the worker's limit is 1\.3 GiB/s);
  });

  test("0 switches it off", async () => {
    const off = { FACTORLOOM_MEMORY_PAUSE: "0", FACTORLOOM_MEMORY_TERMINATE: "0" };
    const started = await runWith(off, Math.ceil(LIMIT_BYTES / 2 ** 20));
    expect(countsOf(started)).toMatchObject({ memoryKills: 0, executorRestarts: 0 });
    expect(countsOf(started).executorBytesMax).toBeGreaterThan(LIMIT_BYTES);
  });

  test("above the first share tasks run one at a time", async () => {
    const overlaps = ({ run }: StartedRun) => {
      const spans = run
        .report!.workers.flatMap(({ job }) => job.trace)
        .map(({ startMs, ns }) => ({ start: startMs, end: startMs + ns / 1e6 }))
        .sort((a, b) => a.start - b.start);
      return spans.filter(({ start }, index) => index > 0 && start < spans[index - 1]!.end - 1).length;
    };
    expect(overlaps(await runWith({ FACTORLOOM_MEMORY_PAUSE: "0.001" }))).toBe(0);
    expect(overlaps(await runWith({}))).toBeGreaterThan(0);
  });

  test("a share that is no number: E528", async () => {
    const failed = runWith({ FACTORLOOM_MEMORY_PAUSE: "80%" });
    await expect(failed).rejects.toThrow(/^E528 .*FACTORLOOM_MEMORY_PAUSE is 80%/s);
  });
});

type WorkerOf = NonNullable<StartedRun["run"]["report"]>["workers"][number];

function countsOf({ run }: StartedRun): WorkerOf["job"]["counters"] {
  return run.report!.workers[0]!.job.counters;
}

/** What Dask's workers report of themselves. */
async function metricsOn(scheduler: string): Promise<Record<string, unknown>[]> {
  const script = `import json
from distributed import Client
with Client(sys.argv[1], set_as_default=False) as client:
    print(json.dumps([worker["metrics"] for worker in client.scheduler_info()["workers"].values()]))`;
  return JSON.parse((await printed(script, scheduler)).join());
}
