import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../../src/data/duckdb/database.ts";
import { parquetRowCounts } from "../../../src/data/read/parquet_source.ts";
import { hasDask } from "../../support/needs.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";
import { until } from "../../support/until.ts";
import type { FaultSetting } from "../support/fault_setting.ts";
import { CLUSTERS } from "./fault_clusters.ts";
import { kill } from "./fault_row.ts";
import { type Mode, Scene } from "./scene.ts";

/** At a random moment of a run something ends: the result is right, or an error says why, and nothing stays. */

const REASON = new Error("no longer");
/** Of a row that one of two shares evaluates: a run takes some seconds. */
const ROW_MS = 4;

type Act = (scene: Scene, pick: number) => unknown;
const one = (pids: readonly number[], pick: number) => pids.slice(Math.floor(pick * pids.length)).slice(0, 1);
const ENDS: Readonly<Record<string, Act>> = {
  "a worker is killed": async ({ setting }, pick) => kill(...one(await setting.dask.workerPids(), pick)),
  "an executor is killed": async ({ setting }, pick) => kill(...one(await setting.executors(), pick)),
  "the scheduler is restarted": async (scene) => {
    kill(scene.setting.dask.schedulerPid);
    await scene.restartCluster();
  },
  "the client aborts": ({ controller }) => controller.abort(REASON),
};

const random = new Seeded();
const MODES: readonly Mode[] = ["chunks", "dataset"];
const all = Array.from({ length: trials(0, 10) }).flatMap(() =>
  Object.keys(ENDS).flatMap((what) =>
    MODES.map((mode) => ({ what, mode, moment: random.uniform(), pick: random.uniform() })),
  ),
);

describe.runIf(all.length > 0 && (await hasDask()))(`at random moments of seed ${random.seed}`, () => {
  let open: Promise<FaultSetting> | null = null;
  /** Of a run without a fault. */
  let usualMs: Promise<number> | null = null;
  const close = async () => {
    const closing = open;
    open = null;
    await (await closing)?.close();
  };
  afterAll(close);

  test.for(all)("$what, $mode, at $moment", async ({ what, mode, moment, pick }) => {
    open ??= CLUSTERS.patient();
    const setting = await open;
    usualMs ??= attempt(setting, mode, async () => {});
    const ms = moment * (await usualMs);
    try {
      await attempt(setting, mode, async (scene) => {
        await wait(ms);
        await ENDS[what]!(scene, pick);
      });
    } catch (error) {
      await close();
      throw error;
    }
    if (what.startsWith("the scheduler")) await close();
    else await setting.mend();
  });
});

/** Gives how long the run took. */
async function attempt(setting: FaultSetting, mode: Mode, act: (scene: Scene) => Promise<void>) {
  await using scene = new Scene(setting, { run: ({ controller: { signal } }) => ({ signal }) }, mode);
  await scene.connect({});
  setting.gate.slow(ROW_MS);
  await scene.begin();
  const start = performance.now();
  const [end] = await Promise.all([
    scene.end.then(
      () => null,
      (error: Error) => error,
    ),
    act(scene),
  ]);
  const ms = performance.now() - start;
  if (end === null) await setting.expectRight(scene.started);
  else if (end !== REASON) expect(end).toMatchObject({ code: expect.stringMatching(/^E6\d\d$/) });
  await until(() => setting.isFree());
  if (mode === "chunks") return ms;
  using database = await openDatabase();
  for (const name of readdirSync(scene.dataset).filter((each) => /^part-.*\.parquet$/.test(each)))
    expect((await parquetRowCounts(database, [join(scene.dataset, name)]))[0]).toBeGreaterThan(0);
  setting.gate.open();
  await setting.expectRight(await scene.again());
  await expectRightOnceChanged(scene);
  return ms;
}

/** What the run left is changed before the same run takes it up: the result is right, or refused. */
async function expectRightOnceChanged(scene: Scene): Promise<void> {
  const files = readdirSync(scene.dataset).sort();
  const name = files[random.below(files.length)]!;
  const bytes = readFileSync(join(scene.dataset, name));
  const place = random.below(bytes.length);
  bytes[place]! ^= 1 << random.below(8);
  writeFileSync(join(scene.dataset, name), random.below(2) === 0 ? bytes : bytes.subarray(0, place));
  try {
    await scene.setting.expectRight(await scene.again());
  } catch (error) {
    expect(error, `${name}, byte ${place}`).toMatchObject({ code: expect.stringMatching(/^E6\d\d$/) });
  }
}
