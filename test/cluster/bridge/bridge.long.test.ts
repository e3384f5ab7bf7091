import { chmod, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bridge, type ClusterProgress } from "../../../src/cluster/bridge/bridge.ts";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import { isAlive } from "../../../src/files/is_alive.ts";
import { hasDask } from "../../support/needs.ts";
import { fakeBundle, graphTask, keysOf, openFakeRun, resultOf, runTask } from "../support/fake_run.ts";
import { ProcessCluster } from "../support/processes/process_cluster.ts";

const filled = (bytes: number, value: number) => new Uint8Array(bytes).fill(value);
const toPlain = (buffers: readonly Uint8Array[]) => buffers.map((buffer) => [...buffer]);

describe.runIf(await hasDask())("the bridge", () => {
  let cluster: ProcessCluster;
  let run: Bridge;

  beforeAll(async () => {
    cluster = await ProcessCluster.start({ workers: 1 });
    run = await openFakeRun(cluster.address);
  });

  afterAll(async () => {
    await run?.close();
    await cluster?.close();
  });

  /** Another bridge, whose job has done nothing. */
  async function openOther() {
    const bridge = await openFakeRun(cluster.address);
    return { bridge, [Symbol.asyncDispose]: () => bridge.close() };
  }

  test("it tells what it found", async () => {
    const bridge = await Bridge.start({ python: await findPython() });
    try {
      const { workers, schedulerVersions } = await bridge.connect(cluster.address, { timeoutSeconds: 10 });
      expect(bridge.versions).toEqual(schedulerVersions);
      expect(workers).toMatchObject([{ host: "127.0.0.1", threads: 1 }]);
    } finally {
      await bridge.close();
    }
  });

  test("buffers go through run and pick in order, and later graphs read results that were not gathered", async () => {
    const key = keysOf("shapes");
    const make = runTask(key("make"), { kind: "echo", made: [1, 2, 3] });
    const last = graphTask(key("part", 7), { kind: "pick", index: 2 }, [make.key]);
    await run.submit({ tasks: [make, last], results: [make.key, last.key] });
    const first = graphTask(key("part", 8), { kind: "pick", index: 0 }, [make.key]);
    expect(toPlain(await resultOf(run, first))).toEqual([[1]]);
    expect(toPlain(await run.gather(last.key))).toEqual([[3, 3, 3]]);
    expect(toPlain(await run.gather(make.key))).toEqual([[1], [2, 2], [3, 3, 3]]);
  });

  test("large buffers keep their bits, and come aligned for doubles", async () => {
    const [small, large] = await resultOf(
      run,
      runTask(keysOf("large")("out"), { kind: "echo", made: [3, 2 ** 23] }),
    );
    expect(small).toEqual(filled(3, 1));
    expect(large!.byteOffset).toBe(0);
    expect(new Float64Array(large!.buffer).length).toBe(2 ** 20);
    expect(Buffer.compare(large!, filled(2 ** 23, 2))).toBe(0);
  });

  test("the counts of an output are its last buffer", async () => {
    const counts = { rowCount: 3, nulls: [1], nonFinite: [0] };
    const buffers = await resultOf(run, runTask(keysOf("counts")("out"), { kind: "echo", counts }));
    expect(buffers.map((buffer) => JSON.parse(Buffer.from(buffer).toString()))).toEqual([counts]);
  });

  test("many results are asked for at once, and each is forgotten when it was taken", async () => {
    const key = keysOf("many");
    const tasks = Array.from({ length: 40 }, (_, place) =>
      runTask(key("out", place), { kind: "echo", made: [place + 1] }),
    );
    const results = tasks.map((task) => task.key);
    await run.submit({ tasks, results });
    const sizes = (await Promise.all(results.map((result) => run.gather(result)))).map(
      ([only]) => only!.length,
    );
    expect(sizes).toEqual(results.map((_, place) => place + 1));
    await expect(run.gather(results[0]!)).rejects.toThrow("many");
  });

  test("urgent tasks of a graph come first", async () => {
    const key = keysOf("order");
    await using other = await openOther();
    const first = runTask(key("first"), { kind: "echo" });
    const tasks = [3, 1, 4, 2, 5].map((urgency, place) => ({
      ...runTask(key("out", place), { kind: "echo" }, { reads: [first.key] }),
      urgency,
    }));
    const results = tasks.map((task) => task.key);
    await other.bridge.submit({ tasks: [first, ...tasks], results });
    await Promise.all(results.map((result) => other.bridge.gather(result)));
    const { workers } = await other.bridge.workers({ trace: true });
    const order = workers[0]!.job.trace.map((record) => Number(/, (\d*)\)/.exec(record.key)?.[1]));
    expect(order.slice(1)).toEqual([4, 2, 0, 3, 1]);
  });

  test("workers report what they did for a job", async () => {
    const key = keysOf("report");
    await using other = await openOther();
    await resultOf(other.bridge, runTask(key("one"), { kind: "echo", made: [1000] }));
    const { workers, gone } = await other.bridge.workers({ trace: true });
    expect(gone).toBe(0);
    expect(workers).toHaveLength(1);
    const [{ job: did, ...facts }] = workers as [(typeof workers)[0]];
    expect(facts).toMatchObject({ threads: 1, restarts: 0, stolenBy: 0, replicatedKeys: 0 });
    expect(did.counters).toMatchObject({
      tasks: 1,
      bytesReceived: 1000,
      bytesRead: 2,
      bytesWritten: 3,
      executorRestarts: 0,
    });
    const [name] = key("one");
    expect(did.trace).toMatchObject([{ key: `('${name}', )`, executor: 0, ns: 1, wasDone: false }]);
  });

  test("removing the job ends executors", async () => {
    await using other = await openOther();
    await resultOf(other.bridge, runTask(keysOf("last-job")("out"), { kind: "echo" }));
    const { workers } = await other.bridge.workers({ trace: true });
    const { pid } = workers[0]!.job.trace[0]!;
    expect(isAlive(pid)).toBe(true);
    await other.bridge.removeJob();
    expect(isAlive(pid)).toBe(false);
  });

  test("progress is reported while results are awaited", async () => {
    const key = keysOf("progress");
    const marks = join(cluster.folder, "progress");
    // Counts begin with a job.
    await using other = await openOther();
    const reported = new Promise<ClusterProgress>((resolve) => {
      other.bridge.onProgress = (progress) => {
        if (progress.done === 1) resolve(progress);
      };
    });
    const long = runTask(key("long", 0), { kind: "sleep", marks, times: 1 }, { reads: [key("short", 0)] });
    await other.bridge.submit({
      tasks: [runTask(key("short", 0), { kind: "echo" }), long],
      results: [long.key],
    });
    const groups = {
      [key("short")[0]]: { done: 1, total: 1, processing: 0, queued: 0 },
      [key("long")[0]]: { done: 0, total: 1, processing: 1, queued: 0 },
    };
    expect(await reported).toMatchObject({ done: 1, total: 2, groups });
    await other.bridge.cancel();
  });

  test("every worker starts an executor for a moment and writes in a folder", async () => {
    const [answer] = await run.probe(cluster.folder, 10);
    const node = process.versions.node;
    expect(answer).toMatchObject({ host: hostname(), versions: run.versions, node, hasWritten: true });
    expect((await run.probe(null, 10))[0]!.hasWritten).toBe(false);
    const problem = (await run.probe("/no/such/folder", 10))[0]!.problem!;
    expect(problem).toMatch(
      /^E614 \/no\/such\/folder is not shared: worker \S+ \(tcp:\S+\) on \S+ does not see/,
    );
    expect(Math.abs(answer!.clockSeconds!)).toBeLessThan(5);
  });

  test("executors of another version are refused", async () => {
    const hello = { protocol: 2, version: "other" };
    const other = await openFakeRun(cluster.address, { ...fakeBundle(), hello });
    try {
      const result = resultOf(other, runTask(keysOf("version")("out"), { kind: "echo" }));
      const reason = /E605 the executor on .* factorloom fake, protocol 2, here factorloom other/;
      await expect(result).rejects.toThrow(reason);
      expect((await other.probe(null, 10))[0]!.problem).toMatch(reason);
    } finally {
      await other.close();
    }
  });

  test("workers without Node, or with an old one, are named", async () => {
    const old = join(cluster.folder, "old_node");
    await writeFile(old, "#!/bin/sh\necho v20.1.0\n");
    await chmod(old, 0o755);
    for (const [node, reason] of [
      ["/nowhere/node", "is not there"],
      [old, "is v20.1.0"],
    ] as const) {
      const other = await openFakeRun(cluster.address, { ...fakeBundle(), node });
      try {
        const result = resultOf(other, runTask(keysOf("node")("out"), { kind: "echo" }));
        const message = new RegExp(`E605 worker tcp://127.0.0.1:\\d+ .*: ${node} ${reason}`);
        await expect(result).rejects.toThrow(message);
      } finally {
        await other.close();
      }
    }
  });

  test("the error names a scheduler that is missing, or another server", async () => {
    const bridge = await Bridge.start({ python: await findPython() });
    try {
      await expect(bridge.connect("tcp://127.0.0.1:1", { timeoutSeconds: 1 })).rejects.toMatchObject({
        code: "E603",
      });
      await expect(bridge.connect("nonsense://127.0.0.1", { timeoutSeconds: 1 })).rejects.toMatchObject({
        code: "E528",
      });
    } finally {
      await bridge.close();
    }
  });

  test("a Python without Dask is named", async () => {
    const python = join(cluster.folder, "bare_python");
    await writeFile(python, `#!/bin/sh\nexec ${await findPython()} -S -I "$@"\n`);
    await chmod(python, 0o755);
    await expect(Bridge.start({ python })).rejects.toThrow(
      `E602 no Python with Dask's distributed was found (tried ${python})`,
    );
    await expect(Bridge.start({ python: "/nowhere/python" })).rejects.toMatchObject({ code: "E602" });
  });
});
