import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ProcessGroup } from "../../src/cluster/bridge/process_group.ts";
import { findPython, pythonScript } from "../../src/cluster/bridge/python.ts";
import { openClusterPanel } from "../../src/cluster/client/cluster.ts";
import { hasDask } from "../support/needs.ts";
import { until } from "../support/until.ts";
import { FaultSetting, PARTITION } from "./support/fault_setting.ts";
import { GATE_VARIABLE } from "./support/gate.ts";

/** Folders of a run that cannot be written any more, or are not those of the client. */

/** In the first slab: the client has taken no result. */
const EARLY = 30;

/** Whether file systems may be mounted here. */
function canMount(): boolean {
  try {
    execFileSync("unshare", ["-m", "mount", "-t", "tmpfs", "tmpfs", tmpdir()], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe.runIf(canMount() && (await hasDask()))("a run's folders", () => {
  let setting: FaultSetting;
  /** Sees empty folders where the client has its own. */
  let apart: ProcessGroup;
  let hidden = "";
  beforeAll(async () => {
    setting = await FaultSetting.start();
    hidden = join(setting.folder, "hidden");
    mkdirSync(hidden);
    apart = await startApart(setting, hidden);
  });
  afterEach(() => setting.gate.open());
  afterAll(async () => {
    await apart?.end();
    await setting?.close();
  });

  /** A worker with a file system of its own mounted over a folder. */
  async function startApart({ dask, folder, gate }: FaultSetting, place: string): Promise<ProcessGroup> {
    const { path } = await findPython();
    const worker = ["worker", dask.address, "--name", "apart", "--nworkers", "1", "--nthreads", "1"];
    const local = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"];
    const command = [path, "-B", pythonScript("local_process.py"), ...worker, ...local];
    const script = 'mount -t tmpfs tmpfs "$0" && exec "$@"';
    const env = { ...process.env, FACTORLOOM_NODE: process.execPath, [GATE_VARIABLE]: gate.folder };
    const args = ["-m", "sh", "-c", script, place, ...command];
    const group = await ProcessGroup.start(
      "unshare",
      [...args, "--local-directory", join(folder, "apart")],
      env,
    );
    await until(async () => (await setting.counts()).workers === 3);
    return group;
  }

  test("the store becomes read-only: E609 names the worker, or the client where it comes first", async () => {
    await using cluster = await setting.connect("store");
    const started = await setting.beginHeld(cluster, {}, EARLY);
    const mount = (...args: string[]) => execFileSync("mount", args);
    // Over itself: what is open for writing would keep it from being remounted.
    mount("--bind", setting.store, setting.store);
    try {
      // The executor that does not wait at the gate may be writing.
      await until(() => {
        try {
          mount("-o", "remount,bind,ro", setting.store);
        } catch {
          return false;
        }
        return true;
      });
      setting.gate.open();
      await expect(started.table).rejects.toThrow(
        /^E609 (worker (worker-\d|apart) \(tcp:\S+\) on \S+|the client) cannot write \S+: EROFS: .*\n {2}check the free space/,
      );
      await expect(started.table).rejects.toMatchObject({ name: "ResourceError", exitCode: 2 });
    } finally {
      execFileSync("umount", ["--lazy", setting.store]);
    }
    await setting.expectRight(await setting.begin(cluster));
  });

  test("the result becomes read-only: E609 names the worker", async () => {
    const out = join(setting.folder, "out");
    await using cluster = await setting.connect("memory");
    setting.gate.close(0);
    const panel = await openClusterPanel(setting.path);
    const run = await cluster.openRun(setting.program, panel, PARTITION, out);
    let isMounted = false;
    try {
      const done = (async () => {
        for await (const _ of run.blocks());
      })();
      done.catch(() => {});
      await setting.gate.waiting(1);
      execFileSync("mount", ["--bind", out, out]);
      isMounted = true;
      execFileSync("mount", ["-o", "remount,bind,ro", out]);
      setting.gate.open();
      await expect(done).rejects.toThrow(
        /^E609 worker (worker-\d|apart) \(tcp:\S+\) on \S+ cannot write \S+/,
      );
    } finally {
      if (isMounted) execFileSync("umount", ["--lazy", out]);
      await panel.source.close();
    }
  });

  test("the store is not shared: E614 names the worker", async () => {
    const store = join(hidden, "store");
    await using cluster = await setting.connect("store", { store, workers: ["apart"] });
    const { table } = await setting.begin(cluster);
    await expect(table).rejects.toThrow(
      /^E614 \S+\/hidden\/store\/\S+ is not shared: worker apart \(tcp:\S+\) on \S+ does not see there what/,
    );
  });

  test("the folder of the result is not shared: E614 names the worker", async () => {
    await using cluster = await setting.connect("store", { workers: ["apart"] });
    const panel = await openClusterPanel(setting.path);
    const run = await cluster.openRun(setting.program, panel, PARTITION, join(hidden, "out"));
    const done = (async () => {
      for await (const _ of run.blocks());
    })();
    await expect(done).rejects.toThrow(
      /^E614 \S+\/hidden\/out is not shared: worker apart \(tcp:\S+\) on \S+ does not see there what/,
    );
    await panel.source.close();
  });
});
