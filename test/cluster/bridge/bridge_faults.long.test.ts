import { readFileSync, watch } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bridge } from "../../../src/cluster/bridge/bridge.ts";
import { processes } from "../../../src/cluster/bridge/process_group.ts";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import type { BufferPath } from "../../../src/cluster/protocol/protocol.ts";
import { isAlive } from "../../../src/files/is_alive.ts";
import { hasDask } from "../../support/needs.ts";
import { until } from "../../support/until.ts";
import { DaskCluster } from "../support/dask_cluster.ts";
import {
  addJob,
  type FakeRun,
  fakeBundle,
  graphTask,
  keysOf,
  openFakeRun,
  resultOf,
  runTask,
} from "../support/fake_run.ts";

const linesOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n");

/** Process ids in a file of marks, as soon as there are `count`. */
async function marksOf(path: string, count: number): Promise<number[]> {
  const found = () =>
    linesOf(path)
      .filter((line) => line !== "")
      .map(Number);
  return await new Promise((resolve) => {
    const watcher = watch(path, settle);
    function settle(): void {
      if (found().length < count) return;
      watcher.close();
      resolve(found());
    }
    settle();
  });
}

/** An empty file for marks. */
async function marksFile(cluster: DaskCluster, name: string): Promise<string> {
  const path = join(cluster.folder, name);
  await writeFile(path, "");
  return path;
}

async function countersOf(bridge: Bridge, job: string) {
  const { workers } = await bridge.workers(job);
  return workers[0]!.job.counters;
}

describe.runIf(await hasDask())("executors", () => {
  let cluster: DaskCluster;
  let run: FakeRun;

  beforeAll(async () => {
    cluster = await DaskCluster.start({ workers: 1, workerTtl: "5s" });
    run = await openFakeRun(cluster.address);
  });

  afterAll(async () => {
    await run?.bridge.close();
    await cluster?.stop();
  });

  test("a fault comes with its code, and its task is not run again", async () => {
    const key = keysOf("fault");
    const marks = await marksFile(cluster, "fault");
    const failing = runTask(key("bad"), { kind: "fault", marks, errorClass: "data", code: "E302" });
    const reading = runTask(key("out"), { kind: "echo" }, { reads: [failing.key] });
    const result = resultOf(run, failing, reading);
    await expect(result).rejects.toThrow("E302 as asked\n  ask for less");
    await expect(result).rejects.toMatchObject({ name: "DataError" });
    expect(linesOf(marks)).toHaveLength(1);
  });

  test("a fault whose text is too long for Dask comes with its code, and the ends of the text", async () => {
    const marks = await marksFile(cluster, "long-fault");
    const fault = { kind: "fault", marks, errorClass: "data", code: "E302" } as const;
    const problem = `first ${"x".repeat(20_000)} last`;
    const result = resultOf(run, runTask(keysOf("long-fault")("bad"), { ...fault, problem }));
    await expect(result).rejects.toThrow(/^E302 first x+ \.\.\. x+ last\n {2}ask for less$/);
  });

  test("a task whose executor died is run again", async () => {
    const key = keysOf("die");
    const job = await addJob(run.bridge);
    const marks = await marksFile(cluster, "die");
    const make = runTask(key("make"), { kind: "echo", made: [5] });
    const copy = runTask(
      key("copy"),
      { kind: "die", marks, times: 1 },
      { reads: [make.key], buffers: [[0, 0]] },
    );
    const buffers = await resultOf({ ...run, job }, make, copy);
    expect(buffers.map((buffer) => [...buffer])).toEqual([[1, 1, 1, 1, 1]]);
    expect(await countersOf(run.bridge, job)).toMatchObject({
      tasks: 2,
      executorRestarts: 1,
      deadlineKills: 0,
    });
    await run.bridge.removeJob(job);
  });

  test("a task whose executors died twice fails, with what they said last", async () => {
    const key = keysOf("die-twice");
    const marks = await marksFile(cluster, "die-twice");
    const result = resultOf(run, runTask(key("out", 3), { kind: "die", marks, times: 2 }));
    const message = `executors on tcp://127\\.0\\.0\\.1:\\d+ ended twice while they ran \\('${key("out")[0]}', 3\\).*going to die`;
    await expect(result).rejects.toThrow(new RegExp(`E607 ${message}`, "s"));
    expect(linesOf(marks)).toHaveLength(2);
  });

  test("a stopped executor is replaced after the deadline", async () => {
    const job = await addJob(run.bridge);
    const marks = await marksFile(cluster, "stop");
    const options = { deadlineSeconds: 1 };
    const buffers = await resultOf(
      { ...run, job },
      runTask(keysOf("stop")("out"), { kind: "stop", marks, times: 1, made: [2] }, options),
    );
    expect(buffers.map((buffer) => [...buffer])).toEqual([[1, 1]]);
    expect(isAlive(Number(linesOf(marks)[0]))).toBe(false);
    expect(await countersOf(run.bridge, job)).toMatchObject({ executorRestarts: 1, deadlineKills: 1 });
    await run.bridge.removeJob(job);
  });

  test("a task that is silent twice fails", async () => {
    const marks = await marksFile(cluster, "silent");
    const task = runTask(
      keysOf("silent")("out"),
      { kind: "stop", marks, times: 2 },
      { deadlineSeconds: 0.5 },
    );
    await expect(resultOf(run, task)).rejects.toThrow(/E613 .* did not answer twice within 0.5 s of/);
  });

  test("cancelling ends executors at once, and their threads take other work", async () => {
    const key = keysOf("cancel");
    const marks = await marksFile(cluster, "cancel");
    const result = resultOf(run, runTask(key("out"), { kind: "sleep", marks, times: 1 }));
    const [sleeper] = await marksOf(marks, 1);
    const start = performance.now();
    await Promise.all([run.bridge.cancel(), expect(result).rejects.toMatchObject({ name: "AbortError" })]);
    await until(() => !isAlive(sleeper!));
    await resultOf(run, runTask(key("next"), { kind: "echo" }));
    expect(performance.now() - start).toBeLessThan(20_000);
    // A key that was cancelled may be asked for again.
    await resultOf(run, runTask(key("out"), { kind: "echo" }));
  });

  test("removing the last job ends executors", async () => {
    const other = await openFakeRun(cluster.address);
    try {
      await resultOf(other, runTask(keysOf("last-job")("out"), { kind: "echo" }));
      const { workers } = await other.bridge.workers(other.job, { trace: true });
      const { pid } = workers[0]!.job.trace[0]!;
      expect(isAlive(pid)).toBe(true);
      await other.bridge.removeJob(other.job);
      expect(isAlive(pid)).toBe(false);
    } finally {
      await other.bridge.close();
    }
  });

  test("when the bridge is killed, the scheduler forgets its tasks", async () => {
    const other = await openFakeRun(cluster.address);
    const marks = await marksFile(cluster, "bridge");
    const result = resultOf(other, runTask(keysOf("bridge")("out"), { kind: "sleep", marks, times: 1 }));
    const [sleeper] = await marksOf(marks, 1);
    process.kill(other.bridge.pid, "SIGKILL");
    await expect(result).rejects.toThrow(/E612 the bridge to Dask ended: SIGKILL/);
    await expect(other.bridge.workers(other.job)).rejects.toMatchObject({ code: "E612" });
    expect(await until(() => !isAlive(sleeper!))).toBeLessThan(20_000);
    await resultOf(run, runTask(keysOf("after-bridge")("out"), { kind: "echo" }));
  });

  test("an aborted bridge rejects with the reason", async () => {
    const abort = new AbortController();
    const bridge = await Bridge.start({ python: (await findPython()).path, signal: abort.signal });
    await bridge.connect(cluster.address, { timeoutSeconds: 10 });
    const installing = bridge.install(fakeBundle(), 10);
    const reason = new Error("no longer");
    abort.abort(reason);
    await expect(installing).rejects.toBe(reason);
    await until(() => !isAlive(bridge.pid));
  });
});

describe.runIf(await hasDask())("workers", () => {
  let cluster: DaskCluster;
  let run: FakeRun;

  beforeAll(async () => {
    cluster = await DaskCluster.start({ workers: 2, workerTtl: "5s" });
    run = await openFakeRun(cluster.address);
  });

  afterAll(async () => {
    await run?.bridge.close();
    await cluster?.stop();
  });

  /** A small graph whose last task ends its worker once; other workers have to take over. */
  async function survives(kind: "killWorker" | "killNanny"): Promise<void> {
    const key = keysOf(kind);
    const marks = await marksFile(cluster, kind);
    const makes = [0, 1, 2, 3].map((place) =>
      runTask(key("make", place), { kind: "echo", made: [place + 1] }),
    );
    const reads = makes.map((task) => task.key);
    const pack = graphTask(key("pack"), { kind: "merge", from: 0, to: 1 }, reads);
    const buffers: BufferPath[] = [
      [0, 3, 0],
      [0, 1, 0],
    ];
    const copy = runTask(key("copy"), { kind, marks, times: 1 }, { reads: [pack.key], buffers });
    const result = await resultOf(run, ...makes, pack, copy);
    expect(result.map((buffer) => [...buffer])).toEqual([
      [1, 1, 1, 1],
      [1, 1],
    ]);
    expect(linesOf(marks)).toHaveLength(1);
  }

  const bothAreThere = async () => (await run.bridge.workers(run.job)).workers.length === 2;

  test("a graph may be kept to some of them", async () => {
    const key = keysOf("some");
    const job = await addJob(run.bridge);
    const { workers } = await run.bridge.workers(job);
    const tasks = Array.from({ length: 8 }, (_, place) => runTask(key("out", place), { kind: "echo" }));
    const results = tasks.map((task) => task.key);
    await run.bridge.submit(job, { tasks, results, workers: [workers[1]!.address] });
    await Promise.all(results.map((result) => run.bridge.gather(result)));
    const did = (await run.bridge.workers(job)).workers;
    expect(did.map((worker) => [worker.address, worker.job.counters.tasks])).toEqual([
      [workers[0]!.address, 0],
      [workers[1]!.address, 8],
    ]);
    await run.bridge.removeJob(job);
  });

  test("one that is killed is restarted by its nanny, and its work is done again", async () => {
    await survives("killWorker");
    await until(bothAreThere);
    const { workers, gone, joined } = await run.bridge.workers(run.job);
    expect(workers.map(({ restarts }) => restarts).sort()).toEqual([0, 1]);
    expect({ gone, joined }).toEqual({ gone: 1, joined: 1 });
  });

  test("one that stands still while another one waits for its data is given up", async () => {
    const key = keysOf("still");
    const marks = await marksFile(cluster, "still");
    const job = await addJob(run.bridge);
    const probes = [0, 0.5].map((preferredWorker, place) =>
      runTask(key("probe", place), { kind: "echo" }, { preferredWorker }),
    );
    await resultOf(
      { ...run, job },
      ...probes,
      graphTask(
        key("probed"),
        { kind: "barrier" },
        probes.map(({ key }) => key),
      ),
    );
    const { workers } = await run.bridge.workers(job, { trace: true });
    const executor = workers[0]!.job.trace[0]!.pid;
    const pid = (await processes()).find((each) => each.pid === executor)!.parent;
    // The first worker makes `kept` and `seen`; the second one reads `seen`, so that it is connected, stops the first one, and
    // then needs `kept`.
    const kept = runTask(key("kept"), { kind: "echo", made: [3] }, { preferredWorker: 0 });
    const seen = runTask(key("seen"), { kind: "echo" }, { reads: [kept.key], preferredWorker: 0 });
    const read = runTask(key("read"), { kind: "echo" }, { reads: [seen.key], preferredWorker: 0.5 });
    const stop = runTask(
      key("stop"),
      { kind: "stopOther", marks, times: 1, pid },
      { reads: [read.key], preferredWorker: 0.5 },
    );
    const reads = [stop.key, kept.key];
    const copy = runTask(key("copy"), { kind: "echo" }, { reads, buffers: [[1, 0]], preferredWorker: 0.5 });
    try {
      const result = await resultOf({ ...run, job }, kept, seen, read, stop, copy);
      expect(result.map((buffer) => [...buffer])).toEqual([[1, 1, 1]]);
      expect(linesOf(marks)).toHaveLength(1);
    } finally {
      process.kill(pid, "SIGKILL");
    }
    await until(bothAreThere);
    await run.bridge.removeJob(job);
  });

  test("a task that takes its workers with it is given up", async () => {
    const marks = await marksFile(cluster, "poison");
    const poison = runTask(keysOf("poison")("out"), { kind: "killWorker", marks, times: 9 });
    await expect(resultOf(run, poison)).rejects.toThrow(/E608 Dask gave up \('poison-.*workers died/);
    await until(bothAreThere);
  });

  test("one that is killed with its nanny leaves its work to the others", async () => {
    await survives("killNanny");
    expect((await run.bridge.workers(run.job)).workers).toHaveLength(1);
  });
});

describe.runIf(await hasDask())("scheduler", () => {
  test("a killed one is noticed by all that wait", async () => {
    const cluster = await DaskCluster.start({ workers: 1, workerTtl: "5s" });
    const run = await openFakeRun(cluster.address);
    try {
      const marks = await marksFile(cluster, "scheduler");
      const result = resultOf(run, runTask(keysOf("lost")("out"), { kind: "sleep", marks, times: 1 }));
      const lost = expect(result).rejects.toThrow(`E611 the Dask scheduler at ${cluster.address} is gone`);
      await marksOf(marks, 1);
      const start = performance.now();
      cluster.scheduler.kill("SIGKILL");
      await lost;
      expect(performance.now() - start).toBeLessThan(30_000);
      await expect(run.bridge.workers(run.job)).rejects.toMatchObject({ code: "E611" });
      const closing = performance.now();
      await run.bridge.close();
      expect(performance.now() - closing).toBeLessThan(20_000);
    } finally {
      await run.bridge.close();
      await cluster.stop();
    }
  });
});
