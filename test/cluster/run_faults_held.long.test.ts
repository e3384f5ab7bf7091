import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { hasDask } from "../support/needs.ts";
import { trials } from "../support/trials.ts";
import { until, untilGone } from "../support/until.ts";
import { countersOf, FaultSetting, foundTiles } from "./support/fault_setting.ts";

/**
 * A fault of each kind in the middle of a whole run: its table has the bits of the engine, or an error says why. Long runs
 * try the others (`run_faults*.long.test.ts`).
 */
const MODES = trials(["store"] as const, ["store", "memory"] as const);

describe.runIf(await hasDask())("in the middle of a run", () => {
  let setting: FaultSetting;
  beforeAll(async () => {
    setting = await FaultSetting.start();
  });
  afterEach(() => setting.gate.open());
  afterAll(async () => await setting?.close());

  /** The scheduler has forgotten all tasks, and no executor is left. */
  const isFree = async () => (await setting.counts()).tasks === 0 && (await setting.executors()).length === 0;

  test.for(MODES)("%s: an executor is killed: another one runs its task", async (mode) => {
    await using cluster = await setting.connect(mode);
    const started = await setting.beginHeld(cluster);
    process.kill(started.executor, "SIGKILL");
    setting.gate.open();
    await setting.expectRight(started);
    expect(countersOf(started)).toEqual({ executorRestarts: 1, deadlineKills: 0 });
    expect(started.run.restarts).toBe(0);
  });

  test.for(MODES)("%s: an abort rejects with its reason, and frees all", async (mode) => {
    await using cluster = await setting.connect(mode);
    const controller = new AbortController();
    const started = await setting.beginHeld(cluster, { signal: controller.signal }, 30);
    const executors = await setting.executors();
    const reason = new Error("no longer");
    const start = performance.now();
    controller.abort(reason);
    await Promise.all([expect(started.table).rejects.toBe(reason), untilGone(executors)]);
    expect(performance.now() - start).toBeLessThan(20_000);
    setting.gate.open();
    const next = await setting.begin(cluster);
    await setting.expectRight(next);
    expect(next.run.job.folder).toBe(started.run.job.folder);
    if (mode === "store") expect(foundTiles(next)).toBeGreaterThan(5);
    await until(isFree);
  });

  test("an operator that throws: E515, and no other try", async () => {
    await using cluster = await setting.connect("memory");
    setting.gate.break();
    const started = await setting.begin(cluster);
    await expect(started.table).rejects.toMatchObject({ name: "UsageError", code: "E515" });
    await expect(started.table).rejects.toThrow(/gated.*the gate is broken at row \d+/s);
    const rows = setting.gate.thrownAt();
    expect(new Set(rows).size).toBe(rows.length);
    expect(started.run.restarts).toBe(0);
    await until(isFree);
  });
});
