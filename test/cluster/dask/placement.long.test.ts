import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Cluster } from "../../../src/cluster/client/cluster.ts";
import { compile } from "../../../src/compile.ts";
import { hasDask } from "../../support/needs.ts";
import { keysOf, runTask } from "../support/fake_run.ts";
import { FaultSetting } from "../support/fault_setting.ts";

/** Where tasks run if only one worker has what they want. */

const program = compile("fast = ts_mean(close, 3)\nslow = rank(ts_mean(volume, 5))", {
  fields: ["close", "volume"],
});

describe.runIf(await hasDask())("restrictions on Dask", () => {
  let setting: FaultSetting;
  let cluster: Cluster;
  beforeAll(async () => {
    setting = await FaultSetting.start({ workers: 1 }, program);
    await setting.dask.addWorker(["--resources", "BIG=1"]);
    cluster = await setting.connect({ resources: { BIG: 1 } });
  });
  afterAll(async () => {
    await cluster?.close();
    await setting?.close();
  });

  test("hold for all tasks", async () => {
    const started = await setting.begin(cluster);
    await setting.expectRight(started);
    const counts = started.run.report!.workers.map(({ job }) => job.counters.tasks);
    expect(counts.filter((count) => count > 0)).toHaveLength(1);
  });

  test("a graph of tasks may be kept to some workers", async () => {
    const bridge = await setting.fakes();
    const key = keysOf("some");
    const { workers } = await bridge.workers();
    const tasks = Array.from({ length: 8 }, (_, place) => runTask(key("out", place), { kind: "echo" }));
    const results = tasks.map((task) => task.key);
    await bridge.submit({ tasks, results, workers: [workers[1]!.address] });
    await Promise.all(results.map((result) => bridge.gather(result)));
    const did = (await bridge.workers()).workers;
    expect(did.map((worker) => [worker.address, worker.job.counters.tasks])).toEqual([
      [workers[0]!.address, 0],
      [workers[1]!.address, 8],
    ]);
  });
});
