import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Cluster } from "../../../src/cluster/client/cluster.ts";
import { compile } from "../../../src/compile.ts";
import { hasDask } from "../../support/needs.ts";
import { keysOf, runTask } from "../support/fake_run.ts";
import { FaultSetting, type StartedRun } from "../support/fault_setting.ts";

/** Where tasks run if only one worker has what some of them want. */

const program = compile("fast = ts_mean(close, 3)\nslow = rank(ts_mean(volume, 5))", {
  fields: ["close", "volume"],
});

describe.runIf(await hasDask())("restrictions on Dask", () => {
  let setting: FaultSetting;
  let cluster: Cluster;
  beforeAll(async () => {
    setting = await FaultSetting.start({ workers: 1 }, program);
    await setting.dask.addWorker(["--resources", "BIG=1"]);
    cluster = await setting.connect("memory", { resources: { BIG: 1 } });
  });
  afterAll(async () => {
    await cluster?.close();
    await setting?.close();
  });

  async function runWith(restrictedFactors?: readonly string[]): Promise<StartedRun> {
    const started = await setting.begin(cluster, {
      cut: "stages",
      ...(restrictedFactors && { restrictedFactors }),
    });
    await setting.expectRight(started);
    return started;
  }

  test("hold for all tasks", async () => {
    expect(groupsByWorker(await runWith()).filter(({ size }) => size > 0)).toHaveLength(1);
  });

  test("hold for the factors that are named: other tasks run anywhere", async () => {
    const groups = groupsByWorker(await runWith(["fast"]));
    expect(groups.every(({ size }) => size > 0)).toBe(true);
    expect(groups.filter((each) => each.has("stage0"))).toHaveLength(1);
  });

  test("an unknown factor is refused", async () => {
    await expect(runWith(["quick"])).rejects.toThrow("E506 no factor quick");
  });

  test("a graph of tasks may be kept to some workers", async () => {
    const { bridge, job } = await setting.fakes();
    const key = keysOf("some");
    const { workers } = await bridge.workers(job);
    const tasks = Array.from({ length: 8 }, (_, place) => runTask(key("out", place), { kind: "echo" }));
    const results = tasks.map((task) => task.key);
    await bridge.submit(job, { tasks, results, workers: [workers[1]!.address] });
    await Promise.all(results.map((result) => bridge.gather(result)));
    const did = (await bridge.workers(job)).workers;
    expect(did.map((worker) => [worker.address, worker.job.counters.tasks])).toEqual([
      [workers[0]!.address, 0],
      [workers[1]!.address, 8],
    ]);
  });
});

/** Of every worker, which kinds of tasks ran there: `panel`, `stage0`, `results`. */
function groupsByWorker({ run }: StartedRun): Set<string>[] {
  return run.report!.workers.map(
    ({ job }) => new Set(job.trace.map(({ key }) => /_([a-z]+\d*)-t\d+/.exec(key)![1] as string)),
  );
}
