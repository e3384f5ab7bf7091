import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { canUnshare } from "../../support/namespaces.ts";
import { hasDask, hasOpenssl } from "../../support/needs.ts";
import { cases } from "../../support/trials.ts";
import { until } from "../../support/until.ts";
import { resultOf } from "../support/fake_run.ts";
import { countersOf, type FaultSetting } from "../support/fault_setting.ts";
import { ADDRESS_ROWS, CONTROL } from "./address_rows.ts";
import { CLUSTERS } from "./fault_clusters.ts";
import {
  type FaultRow,
  MOMENTS,
  type Mode,
  type Refused,
  type Right,
  type RunRow,
  Scene,
  type TaskRow,
  TaskScene,
} from "./fault_row.ts";
import { OWN_ROWS } from "./own_rows.ts";
import { RUN_ROWS } from "./run_rows.ts";
import { STORE_ROWS } from "./store_rows.ts";
import { TASK_ROWS } from "./task_rows.ts";

/** What breaks, when, and what comes of it: each row is a test, which `-t` with its words runs alone. */
const FAULTS: readonly FaultRow[] = [...ADDRESS_ROWS, ...RUN_ROWS, ...STORE_ROWS, ...TASK_ROWS, ...OWN_ROWS];
const rows = cases(
  FAULTS.filter(({ isQuick }) => isQuick),
  FAULTS,
);
const NEEDED = { openssl: await hasOpenssl(), mount: process.getuid?.() === 0 && canUnshare() };

function endOf({ expected }: FaultRow): string {
  if (typeof expected === "string") return expected;
  return "code" in expected ? expected.code : "reason" in expected ? "its reason" : "right";
}

describe.runIf(await hasDask())("faults of a cluster", () => {
  for (const [kind, ofKind] of Map.groupBy(rows, ({ cluster = "patient" }) => cluster)) {
    describe(kind, () => {
      /** Started for the first row that runs. */
      let open: Promise<FaultSetting | null> | null = null;
      const close = async () => {
        const closing = open;
        open = null;
        await (await closing)?.close();
      };
      afterEach(async ({ task }) => {
        if (task.result?.state === "fail") await close();
      });
      afterAll(close);

      // Those after which it is no more come last.
      for (const row of ofKind.toSorted((a, b) => Number(a.breaks ?? false) - Number(b.breaks ?? false))) {
        const name = `${row.fault}, ${row.moment}: ${endOf(row)}`;
        const modes: readonly Mode[] = ("modes" in row && row.modes) || ["memory"];
        const isPossible = row.needs === undefined || NEEDED[row.needs];
        test.runIf(isPossible).for(modes)(modes.length > 1 ? `${name} (%s)` : name, async (mode) => {
          open ??= CLUSTERS[kind]();
          const setting = await open;
          if ("tasks" in row) await attemptTasks(setting!, row);
          else await attempt(setting, row, mode);
          if (row.breaks) return await close();
          await setting?.mend("next" in row ? 0 : row.lost);
          await until(async () => setting === null || setting.isFree());
        });
      }
    });
  }
});

async function attempt(setting: FaultSetting | null, row: Exclude<FaultRow, TaskRow>, mode: Mode) {
  await using scene = new Scene(setting, "attempt" in row ? {} : row, mode);
  if ("attempt" in row) await row.attempt(scene);
  else await attemptRun(scene, row);
}

async function attemptRun(scene: Scene, row: RunRow): Promise<void> {
  await MOMENTS[row.moment](scene, () => row.inflict(scene));
  const { setting, end } = scene;
  const start = performance.now();
  if (!row.keepsGate) setting?.gate.open();
  if ("reason" in row.expected) await expect(end).rejects.toBe(row.expected.reason);
  else if ("code" in row.expected) await expectRefused(end, row.expected, start);
  else await expectRight(scene, row.expected);
  await row.also?.(scene);
  if (row.next === undefined) return;
  await setting.mend(row.lost);
  const next = await setting.begin(scene.cluster);
  await setting.expectRight(next);
  row.next(next, scene);
}

async function expectRefused(end: Promise<unknown>, { code, name, says, seconds }: Refused, start: number) {
  const error = await end.then(
    () => new Error("it was right"),
    (reason) => reason as Error & { code?: string },
  );
  if (says !== undefined) expect(error.message).toMatch(says);
  expect([error.name, "code" in error && error.code]).toContain(code);
  if (name !== undefined) expect(error.name).toBe(name);
  if (seconds !== undefined) expect((performance.now() - start) / 1000).toBeLessThan(seconds);
}

async function expectRight(scene: Scene, { restarts, counters, workers, gone, given }: Right) {
  await scene.end;
  const { started } = scene;
  await scene.setting.expectRight(started);
  if (restarts !== undefined) expect(started.run.restarts).toBe(restarts);
  if (counters !== undefined) expect(countersOf(started)).toEqual(counters);
  if (workers !== undefined) expect(started.run.report?.workers).toHaveLength(workers);
  if (gone !== undefined) expect(started.run.report?.gone).toBe(gone);
  if (given !== undefined) expect(started.given).toHaveLength(given);
}

async function attemptTasks(setting: FaultSetting, row: TaskRow): Promise<void> {
  const scene = await TaskScene.open(setting, row);
  const { bridge, job } = scene.run;
  try {
    const result = resultOf(scene.run, ...(await row.tasks(scene)));
    result.catch(() => {}); // seen where it is awaited
    if (row.inflict) await until(() => scene.marked().length > 0);
    await row.inflict?.(scene);
    const start = performance.now();
    if ("code" in row.expected) await expectRefused(result, row.expected, start);
    else expect((await result).map((buffer) => [...buffer])).toEqual(row.expected.buffers);
    if (row.marks !== undefined) expect(scene.marked()).toHaveLength(row.marks);
    for (const [name, count] of Object.entries(row.counters ?? {}))
      expect(await scene.counter(name), name).toBe(count);
    await row.also?.(scene);
  } finally {
    if (row.hasOwnBridge) await bridge.close();
    else await bridge.cancel().then(() => bridge.removeJob(job));
  }
}

test("docs/cluster_faults.md has each fault that a user may meet, and no other", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/cluster_faults.md"), "utf8");
  const [first] = page.split("\n## ");
  const cells = [...first!.matchAll(/^\| (?!fault |---)(.+?) \|/gm)].map(([, fault]) => fault);
  const met = FAULTS.filter((row) => !("tasks" in row) && row.fault !== CONTROL).map(({ fault }) => fault);
  expect(new Set(cells)).toEqual(new Set(met));
});
