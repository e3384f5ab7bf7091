import { spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { Bridge } from "../../src/cluster/bridge/bridge.ts";
import { processes } from "../../src/cluster/bridge/process_group.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { writeTable } from "../../src/data/write/write_table.ts";
import { hasDask } from "../support/needs.ts";
import { until, untilGone } from "../support/until.ts";
import { FaultSetting } from "./support/fault_setting.ts";
import { panelTable } from "./support/panel_table.ts";

/** What the client's side of a run may meet: its bridge or itself killed, an abort, Ctrl-C, faults of the user's own. */

const MODES = ["store", "memory"] as const;
const root = join(import.meta.dirname, "../..");

/** Bridges that belong to a process. */
async function bridgesOf(client: number): Promise<number[]> {
  const all = await processes();
  return all
    .filter(({ parent, command }) => parent === client && command.includes("bridge.py"))
    .map(({ pid }) => pid);
}

describe.runIf(await hasDask())("in the middle of a run", () => {
  let setting: FaultSetting;
  beforeAll(async () => {
    setting = await FaultSetting.start();
  });
  afterEach(() => setting.gate.open());
  afterAll(async () => await setting?.close());

  /** The scheduler has forgotten all tasks, and no executor is left. */
  const isFree = async () => (await setting.counts()).tasks === 0 && (await setting.executors()).length === 0;

  test.for(MODES)("%s: the bridge is killed: the run goes on", async (mode) => {
    const before = new Set(await bridgesOf(process.pid));
    await using cluster = await setting.connect(mode);
    const bridge = (await bridgesOf(process.pid)).find((pid) => !before.has(pid))!;
    const started = await setting.beginHeld(cluster);
    await until(() => started.given.length > 0);
    process.kill(bridge, "SIGKILL");
    await until(() => started.run.restarts === 1);
    setting.gate.open();
    // Rows that were given before are not given again.
    await setting.expectRight(started);
    expect(started.given.length).toBe(12);
    expect(started.run.restarts).toBe(1);
    await until(isFree);
  });

  test("the bridge is killed three times: E612", async () => {
    const before = new Set(await bridgesOf(process.pid));
    await using cluster = await setting.connect("memory");
    const started = await setting.beginHeld(cluster);
    const failed = expect(started.table).rejects.toThrow(
      /^E612 the bridge to Dask ended: SIGKILL\n {2}run again/,
    );
    const seen = new Set<number>();
    for (let round = 0; round < 3; round++) {
      // The other executor of the attempt before may be the one that is seen next: its bridge is gone.
      let bridge: number | undefined;
      await until(async () => {
        bridge = (await bridgesOf(process.pid)).find((pid) => !before.has(pid));
        return bridge !== undefined;
      });
      for (const executor of await setting.gate.waiting(1, seen)) seen.add(executor);
      process.kill(bridge!, "SIGKILL");
      await until(() => started.run.restarts === Math.min(round + 1, 2));
    }
    await failed;
    // No client is left to clean up: unused executors end after 10 s.
    await until(isFree);
  });

  test("a cluster that is closed ends what is under way and what begins, with E637; no bridge stays", async () => {
    const before = await bridgesOf(process.pid);
    const { signal } = new AbortController();
    const cluster = await setting.connect("store", { signal });
    const started = await setting.beginHeld(cluster);
    const second = await setting.begin(cluster);
    await until(async () => (await bridgesOf(process.pid)).length === before.length + 2);
    await cluster.close();
    for (const { table } of [started, second, await setting.begin(cluster)])
      await expect(table).rejects.toThrow("E637 the cluster was closed\n  await what is under way");
    expect(await bridgesOf(process.pid)).toEqual(before);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    await until(isFree);
  });

  test("bridges that nobody uses are killed: the next run has a new one", async () => {
    const before = new Set(await bridgesOf(process.pid));
    await using cluster = await setting.connect("memory");
    const runs = await Promise.all([1, 2, 3].map(() => setting.begin(cluster)));
    for (const run of runs) await setting.expectRight(run);
    const idle = (await bridgesOf(process.pid)).filter((pid) => !before.has(pid));
    expect(idle).toHaveLength(3);
    for (const pid of idle) process.kill(pid, "SIGKILL");
    await untilGone(idle);
    await setting.expectRight(await setting.begin(cluster));
  });

  test("an abort before the tasks are sent is heard", async () => {
    await using cluster = await setting.connect("memory");
    const controller = new AbortController();
    const reason = new Error("so soon");
    const { addJob: add } = Bridge.prototype;
    const addJob = vi.spyOn(Bridge.prototype, "addJob").mockImplementationOnce(async function (
      this: Bridge,
      ...args
    ) {
      await add.apply(this, args);
      controller.abort(reason);
    });
    try {
      setting.gate.close(0);
      const started = await setting.begin(cluster, { signal: controller.signal });
      await expect(started.table).rejects.toBe(reason);
    } finally {
      addJob.mockRestore();
    }
  });

  test("a client that is killed is forgotten, and its executors end", async () => {
    setting.gate.close(0);
    const script = join(import.meta.dirname, "support/fault_client.ts");
    const client = spawn(process.execPath, [script, setting.dask.address, setting.path], { stdio: "ignore" });
    const exit = once(client, "exit");
    const executors = await setting.gate.waiting(2);
    const bridges = await bridgesOf(client.pid!);
    client.kill("SIGKILL");
    await exit;
    const ms = await untilGone([...bridges, ...executors]);
    expect(bridges).toHaveLength(1);
    expect(ms).toBeLessThan(30_000);
    await until(isFree);
  });

  test("Ctrl-C ends eval at once, with nothing left", async () => {
    const bars = join(setting.folder, "sp100.parquet");
    await writeTable(await panelTable(await readPanel(join(root, "examples/data/sp100_daily.csv.gz"))), bars);
    const out = join(setting.folder, "out");
    const store = join(setting.folder, "cli-store");
    mkdirSync(out);
    const options = ["--data", bars, "--groups", "examples/data/sp100_sectors.csv", "--kernel", "reference"];
    const cluster = [
      "--engine",
      "dask",
      "--scheduler",
      setting.dask.address,
      "--store",
      store,
      "--create-store",
      "--slab-rows",
      "50",
    ];
    const target = ["--out", join(out, "factors.parquet")];
    const command = [
      "src/cli/main.ts",
      "eval",
      "examples/alpha101.factors",
      ...options,
      ...cluster,
      ...target,
    ];
    const client = spawn(process.execPath, command, { cwd: root, stdio: "ignore" });
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
    await until(isFree);
  });

  test.for(MODES)("%s: workers that do not see the bars: E615", async (mode) => {
    await using cluster = await setting.connect(mode);
    const elsewhere = `${setting.path}.elsewhere`;
    setting.gate.close(0);
    const started = await setting.begin(cluster, {}, () => renameSync(setting.path, elsewhere));
    try {
      const message = `E615 the workers cannot read ${setting.path}: ENOENT`;
      await expect(started.table).rejects.toThrow(message);
      await expect(started.table).rejects.toMatchObject({ name: "DataError" });
      await expect(setting.begin(cluster)).rejects.toBeInstanceOf(Error);
    } finally {
      renameSync(elsewhere, setting.path);
    }
    setting.gate.open();
    await setting.expectRight(await setting.begin(cluster));
  });
});
