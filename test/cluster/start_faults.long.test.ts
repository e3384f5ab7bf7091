import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { findPython } from "../../src/cluster/bridge/python.ts";
import { Cluster } from "../../src/cluster/client/cluster.ts";
import { startLocalCluster } from "../../src/cluster/deploy/local_cluster.ts";
import { compile } from "../../src/compile.ts";
import { hasDask } from "../support/needs.ts";
import { FaultSetting } from "./support/fault_setting.ts";

/** What happens to workers until tasks run on them, and which of them may run what waits. */
const seconds = (start: number) => (performance.now() - start) / 1000;

describe.runIf(await hasDask())("workers", () => {
  let setting: FaultSetting;
  beforeAll(async () => {
    // Nothing here may depend on Dask giving a worker up.
    setting = await FaultSetting.start({ config: { DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL: "10 minutes" } });
  });
  afterEach(() => setting.gate.open());
  afterAll(async () => await setting?.close());

  test.for([
    ["--resources", () => ({ resources: { GPU: 1 } }), "with GPU=1"],
    ["--workers", (name: string) => ({ workers: [name] }), "called worker-\\d"],
  ] as const)("the only one that %s allows is lost: E604 names what is wanted", async ([
    ,
    restricted,
    text,
  ]) => {
    const { pid, name } = await setting.dask.addWorker(["--resources", "GPU=1"]);
    await using cluster = await setting.connect("store", { timeoutSeconds: 20, ...restricted(name) });
    const started = await setting.beginHeld(cluster);
    const start = performance.now();
    process.kill(-pid, "SIGKILL");
    await expect(started.table).rejects.toThrow(
      new RegExp(`^E604 the Dask scheduler at tcp:.* has no worker ${text}\n {2}start one`),
    );
    expect(seconds(start)).toBeLessThan(90);
  });

  test("one stands still while executors are brought: the others run, and it joins in later", async () => {
    const [still] = await setting.dask.workerPids();
    process.kill(still!, "SIGSTOP");
    try {
      const start = performance.now();
      await using cluster = await setting.connect("store", { timeoutSeconds: 40 });
      expect(seconds(start)).toBeLessThan(40);
      process.kill(still!, "SIGCONT");
      await setting.expectRight(await setting.begin(cluster));
    } finally {
      process.kill(still!, "SIGCONT");
    }
  });

  test("none answers: E631 says which, within the time of the whole start", async () => {
    const all = await setting.dask.workerPids();
    for (const pid of all) process.kill(pid, "SIGSTOP");
    try {
      const start = performance.now();
      await expect(setting.connect("memory", { timeoutSeconds: 15 })).rejects.toThrow(
        /^E631 no worker took .*: worker-0 at tcp:\S+ does not answer; worker-1 at tcp:\S+ does not answer\n/,
      );
      expect(seconds(start)).toBeLessThan(60);
    } finally {
      for (const pid of all) process.kill(pid, "SIGCONT");
    }
  });
});

test.runIf(await hasDask())(
  "workers without memory for the code: E631 says so; one with memory is enough",
  async () => {
    await using dask = await startLocalCluster({ workers: 1, memoryLimit: "120MB" });
    const connect = () => Cluster.connect({ scheduler: dask.address, timeoutSeconds: 40 });
    await expect(connect()).rejects.toThrow(
      /^E631 no worker took .*: worker-0 \(memory limit 120 MB\) ended while it took their code(, \d+ times)?\n.*240 MB/,
    );
    await dask.addWorker(["--memory-limit", "1GB"]);
    await using cluster = await connect();
    const panel = syntheticPanel({ lanes: 3, rows: 20, nullShare: 0 });
    const table = await cluster.evaluate(compile("x = rank(close)", { fields: ["close"] }), panel);
    expect(table.numRows).toBe(60);
  },
);

/** A scheduler whose cluster has no worker unless tasks wait. */
const ADAPTIVE = `
import sys, time
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit="1GB") as cluster:
        cluster.adapt(minimum=0, maximum=1, interval="200ms")
        print(cluster.scheduler_address, flush=True)
        workers = cluster.scheduler.workers
        while len(workers) == 0:
            time.sleep(0.01)
        while len(workers) > 0:
            time.sleep(0.01)
        print("no worker", flush=True)
        sys.stdin.read()
`;

test.runIf(await hasDask())("a cluster that may have no worker starts one, also to run", async () => {
  const { path } = await findPython();
  const env = { ...process.env, FACTORLOOM_NODE: process.execPath };
  const child = spawn(path, ["-c", ADAPTIVE], { stdio: ["pipe", "pipe", "ignore"], env });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const line = async () => (await lines.next()).value ?? "the end";
    await using cluster = await Cluster.connect({ scheduler: await line(), timeoutSeconds: 60 });
    expect(await line()).toBe("no worker");
    const panel = syntheticPanel({ lanes: 3, rows: 20, nullShare: 0 });
    const program = compile("x = rank(close)", { fields: ["close"] });
    expect((await cluster.evaluate(program, panel)).numRows).toBe(60);
  } finally {
    child.stdin.end();
    const over = once(child, "exit");
    if ((await Promise.race([over, wait(10_000, "late")])) === "late") child.kill("SIGKILL");
    await over;
  }
});
