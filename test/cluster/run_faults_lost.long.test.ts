import { rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ProcessGroup } from "../../src/cluster/bridge/process_group.ts";
import { findPython, pythonScript } from "../../src/cluster/bridge/python.ts";
import { slabName, tilePath } from "../../src/cluster/protocol/tiles.ts";
import { hasDask } from "../support/needs.ts";
import { until } from "../support/until.ts";
import { FaultSetting, foundTiles } from "./support/fault_setting.ts";
import { GATE_VARIABLE } from "./support/gate.ts";
import { filesBelow, openSmallStore, type SmallStore } from "./support/small_store.ts";

/** What the cluster loses in the middle of a whole run: tiles, room for tiles, the scheduler. */

/** In the first slab: its results have not been taken. */
const EARLY = 30;

describe.runIf(await hasDask())("the tile store", () => {
  let setting: FaultSetting;
  let small: SmallStore;
  beforeAll(async () => {
    // A worker that stands still, whyever, is given up before a test is.
    setting = await FaultSetting.start({ config: { DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL: "5s" } });
    small = openSmallStore(setting.folder);
  });
  afterEach(() => setting.gate.open());
  afterAll(async () => {
    small?.close();
    await setting?.close();
  });

  const isFree = async () => (await setting.counts()).tasks === 0 && (await setting.executors()).length === 0;

  const killAll = (pids: readonly number[]) => {
    for (const pid of pids) process.kill(pid, "SIGKILL");
  };
  test.for([
    ["is deleted: who has it open reads on", (path: string) => rmSync(path), 0],
    [
      "is deleted, and no process has it open: the run starts again",
      (path: string, executors: readonly number[]) => {
        rmSync(path);
        killAll(executors);
      },
      1,
    ],
    ["is truncated: the run starts again", (path: string) => truncateSync(path, 8), 1],
  ] as const)("a tile %s", async ([, spoil, restarts]) => {
    await using cluster = await setting.connect("store");
    const started = await setting.beginHeld(cluster);
    const { stages, folder } = started.run.job;
    const lanes = stages.findLastIndex(({ kind }) => kind === "lanes");
    // Two of three blocks of the last slab wait at the gate: the third is to read it.
    const executors = await setting.gate.waiting(2);
    spoil(join(folder!, tilePath(lanes, 3, 0)), executors);
    setting.gate.open();
    await setting.expectRight(started);
    expect(started.run.restarts).toBe(restarts);
    expect(filesBelow(setting.store)).toEqual([]);
  });

  test("has no room: E609, whole tiles stay and are used again", async () => {
    await using cluster = await setting.connect("store", { store: small.path });
    const started = await setting.beginHeld(cluster, {}, EARLY);
    const folder = started.run.job.folder!;
    await setting.gate.waiting(2);
    const last = join(folder, slabName(3));
    small.fill(last);
    setting.gate.open();
    await expect(started.table).rejects.toMatchObject({ name: "ResourceError", code: "E609" });
    await expect(started.table).rejects.toThrow(
      /^E609 worker worker-\d \(tcp:\S+\) on \S+ cannot write .*: E(NOSPC|NOTDIR): .*\n {2}check the free space/,
    );
    await until(isFree);
    const left = filesBelow(folder).filter((name) => /tmp$|owner/.test(name));
    expect(left, "neither parts of tiles nor a lock").toEqual([]);
    small.free(last);
    const next = await setting.begin(cluster);
    await setting.expectRight(next);
    expect(next.run.job.folder).toBe(folder);
    expect(foundTiles(next)).toBeGreaterThan(5);
  });

  test("has no room from the beginning: E609, and no lock stays", async () => {
    await using cluster = await setting.connect("store", { store: small.path });
    const first = await setting.begin(cluster);
    await setting.expectRight(first);
    const folder = first.run.job.folder!;
    small.fill(folder);
    await expect(setting.begin(cluster)).rejects.toMatchObject({ code: "E609" });
    small.free(folder);
    const next = await setting.begin(cluster);
    await setting.expectRight(next);
    expect(next.run.job.folder).toBe(folder);
  });
});

describe.runIf(await hasDask())("a killed scheduler", () => {
  let setting: FaultSetting;
  beforeAll(async () => {
    setting = await FaultSetting.start();
  });
  afterAll(async () => await setting?.close());

  /** A scheduler where the old one was, and two workers. */
  async function startAgain(groups: ProcessGroup[]): Promise<void> {
    const { path } = await findPython();
    const local = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"];
    const env = {
      ...process.env,
      FACTORLOOM_NODE: process.execPath,
      [GATE_VARIABLE]: setting.gate.folder,
    };
    const start = async (...args: string[]) => {
      const command = ["-B", pythonScript("local_process.py"), ...args, ...local];
      groups.push(await ProcessGroup.start(path, command, env));
    };
    const { port } = new URL(setting.dask.address);
    await start("scheduler", "--port", port);
    for (const name of ["one", "two"]) {
      const folder = ["--local-directory", join(setting.folder, name)];
      await start("worker", setting.dask.address, "--nworkers", "1", "--nthreads", "1", ...folder);
    }
  }

  test("that comes back: runs begin again, and use the tiles that are there", async () => {
    const groups: ProcessGroup[] = [];
    await using inStore = await setting.connect("store");
    await using inMemory = await setting.connect("memory");
    try {
      const runs = [await setting.beginHeld(inStore, {}, EARLY), await setting.begin(inMemory)] as const;
      await setting.gate.waiting(2);
      process.kill(setting.dask.schedulerPid, "SIGKILL");
      await startAgain(groups);
      // A run that ends instead says why.
      const ended = runs.map(({ table }) => table.then(() => Promise.reject(new Error("it is done"))));
      await Promise.race([until(() => runs.every(({ run }) => run.restarts > 0)), ...ended]);
      setting.gate.open();
      for (const started of runs) {
        await setting.expectRight(started);
        expect(started.run.restarts).toBe(1);
      }
      expect(foundTiles(runs[0])).toBeGreaterThan(5);
      // And for good: the address has no scheduler any more.
      setting.gate.close(EARLY);
      await using patient = await setting.connect("store", { timeoutSeconds: 15 });
      const lost = await setting.begin(patient);
      await setting.gate.waiting(1);
      const start = performance.now();
      process.kill(groups[0]!.pid, "SIGKILL");
      await expect(lost.table).rejects.toThrow(
        /^E60[34] the Dask scheduler at tcp:\/\/127\.0\.0\.1:\d+ .*\n {2}start/,
      );
      expect(performance.now() - start).toBeLessThan(60_000);
    } finally {
      setting.gate.open();
      await Promise.all(groups.map((group) => group.end()));
    }
  });
});
