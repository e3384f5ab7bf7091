import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { syntheticPanel } from "../../../src/bench/synthetic_panel.ts";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import { Cluster } from "../../../src/cluster/client/cluster.ts";
import { compile } from "../../../src/compile.ts";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import { writeTable } from "../../../src/data/write/write_table.ts";
import { until, untilGone } from "../../support/until.ts";
import { foundDone } from "../support/fault_setting.ts";
import { panelTable } from "../support/panel_table.ts";
import { ProcessCluster } from "../support/processes/process_cluster.ts";
import { kill, type OwnRow } from "./fault_row.ts";
import { bridgesOf, type Scene } from "./scene.ts";

const root = join(import.meta.dirname, "../../..");
const GONE = /^E60[34] (the|no) Dask scheduler .*tcp:\/\/127\.0\.0\.1:\d+.*\n {2}start/;

/** A small run is right. */
async function expectRuns(cluster: Cluster): Promise<void> {
  const panel = syntheticPanel({ lanes: 3, rows: 20, nullShare: 0 });
  const { table } = await cluster.evaluate(compile("x = rank(close)", { fields: ["close"] }), panel);
  expect(table.numRows).toBe(60);
}

/** Rows whose client or cluster is another one than those that rows share. */
export const CLUSTER_ROWS: readonly OwnRow[] = [
  {
    fault: "the client is killed",
    when: "in its first slab",
    end: "it is forgotten, and its executors end",
    attempt: async ({ setting }) => {
      setting.gate.close(0);
      const script = join(import.meta.dirname, "../support/fault_client.ts");
      const client = spawn(process.execPath, [script, setting.dask.address, setting.path], {
        stdio: "ignore",
      });
      const exit = once(client, "exit");
      const executors = await setting.gate.waiting(2);
      const bridges = await bridgesOf(client.pid!);
      client.kill("SIGKILL");
      await exit;
      const ms = await untilGone([...bridges, ...executors]);
      expect(bridges).toHaveLength(1);
      expect(ms).toBeLessThan(30_000);
    },
  },
  {
    fault: "Ctrl-C",
    when: "while it writes",
    end: "exit status 130, and nothing is left",
    attempt: async ({ setting }) => {
      const bars = join(setting.folder, "sp100.parquet");
      await writeTable(
        await panelTable(await readPanel(join(root, "examples/data/sp100_daily.csv.gz"))),
        bars,
      );
      const out = join(setting.folder, "eval");
      mkdirSync(out);
      const command = `src/cli/main.ts cluster eval examples/alpha101.factors --data ${bars} --groups examples/data/sp100_sectors.csv
        --kernel reference --scheduler ${setting.dask.address} --slab-rows 50
        --out ${join(out, "factors.parquet")}`;
      const client = spawn(process.execPath, command.split(/\s+/), { cwd: root, stdio: "ignore" });
      const exit = once(client, "exit");
      await until(async () => (await setting.executors()).length === 2);
      await until(() => readdirSync(out).length > 0);
      const bridges = await bridgesOf(client.pid!);
      const start = performance.now();
      client.kill("SIGINT");
      expect((await exit)[0]).toBe(130);
      expect(performance.now() - start).toBeLessThan(30_000);
      expect(readdirSync(out)).toEqual([]);
      expect(bridges).toHaveLength(1);
      await untilGone(bridges);
    },
  },
  {
    fault: "workers have no memory for the executors' code",
    when: "before its first task",
    cluster: "none",
    end: "E604 or E607 says that memory may be short; one with memory is enough",
    attempt: async () => {
      await using dask = await ProcessCluster.start({ workers: 1, memoryLimit: "120MB" });
      const connect = () => Cluster.connect({ scheduler: dask.address, timeoutSeconds: 20 });
      const run = async () => {
        await using cluster = await connect();
        await expectRuns(cluster);
      };
      await expect(run()).rejects.toThrow(
        /^E604 .* no workers\n.*have ended: look at their logs, memory|^E607 Dask gave up/,
      );
      await dask.addWorker(["--memory-limit", "1GB"]);
      await run();
    },
  },
  {
    fault: "a cluster has no worker unless tasks wait",
    when: "while it connects, and before its tasks are sent",
    cluster: "none",
    end: "it starts one each time",
    attempt: async (scene) => {
      const line = await startAdaptive(scene);
      await using cluster = await Cluster.connect({ scheduler: await line(), timeoutSeconds: 60 });
      expect(await line()).toBe("no worker");
      await expectRuns(cluster);
    },
  },
  {
    fault: "the scheduler is killed and comes back",
    when: "in its first slab",
    end: "runs begin again, and use the files that are there",
    breaks: true,
    attempt: async (scene) => {
      const { setting, dataset } = scene;
      setting.gate.close(130);
      const cluster = await setting.client();
      const runs = [await setting.begin(cluster, { dataset }), await setting.begin(cluster)] as const;
      await setting.gate.waiting(2);
      const names = () => readdirSync(dataset);
      await until(() => names().some((name) => name.startsWith(".part")));
      kill(setting.dask.schedulerPid);
      await scene.restartCluster();
      // A run that ends instead says why.
      const ended = runs.map(({ table }) => table.then(() => Promise.reject(new Error("it is done"))));
      await Promise.race([until(() => runs.every(({ run }) => run.restarts > 0)), ...ended]);
      setting.gate.open();
      for (const started of runs) {
        await setting.expectRight(started);
        expect(started.run.restarts).toBe(1);
      }
      expect(foundDone(runs[0])).toBeGreaterThan(0);
    },
  },
  {
    fault: "the scheduler is killed for good",
    when: "in its first slab",
    end: "E603 or E604",
    cluster: "hasty",
    breaks: true,
    attempt: async (scene) => {
      const { setting, dataset } = scene;
      await using cluster = await setting.connect({ timeoutSeconds: 10 });
      const { table } = await setting.beginHeld(cluster, { dataset });
      const start = performance.now();
      kill(setting.dask.schedulerPid);
      await expect(table).rejects.toThrow(GONE);
      expect(performance.now() - start).toBeLessThan(60_000);
    },
  },
];

/** A scheduler whose cluster has no worker unless tasks wait; says so once it has none again. */
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

/** Gives what it says, line by line. */
async function startAdaptive(scene: Scene): Promise<() => Promise<string>> {
  const env = { ...process.env, FACTORLOOM_NODE: process.execPath };
  const child = spawn(await findPython(), ["-c", ADAPTIVE], {
    stdio: ["pipe", "pipe", "ignore"],
    env,
  });
  scene.defer(async () => {
    child.stdin.end();
    const over = once(child, "exit");
    if ((await Promise.race([over, wait(10_000, "late")])) === "late") child.kill("SIGKILL");
    await over;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async () => (await lines.next()).value ?? "the end";
}
