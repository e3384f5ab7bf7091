import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { canUnshare } from "../../support/namespaces.ts";
import { hasDask, hasOpenssl } from "../../support/needs.ts";
import { cases } from "../../support/trials.ts";
import { until } from "../../support/until.ts";
import { countersOf, type FaultSetting } from "../support/fault_setting.ts";
import { ADDRESS_ROWS, CONTROL } from "./address_rows.ts";
import { CLUSTER_ROWS } from "./cluster_rows.ts";
import { CLUSTERS } from "./fault_clusters.ts";
import type { FaultRow, OwnRow, Refused, Right, RunRow } from "./fault_row.ts";
import { FILE_ROWS } from "./file_rows.ts";
import { PROCESS_ROWS } from "./process_rows.ts";
import { MOMENTS, type Mode, Scene } from "./scene.ts";

/** What breaks, when, and what comes of it: each row is a test, which `-t` with its words runs alone. */
const FAULTS: readonly FaultRow[] = [...ADDRESS_ROWS, ...PROCESS_ROWS, ...FILE_ROWS, ...CLUSTER_ROWS];

/** A row at one moment, in one mode. */
interface Trial {
  readonly row: FaultRow;
  readonly moment: string;
  readonly mode: Mode;
}

function trialsOf(row: FaultRow): Trial[] {
  if ("attempt" in row) return [{ row, moment: row.when, mode: "chunks" }];
  return row.when.flatMap(([moment, ...modes]) => modes.map((mode) => ({ row, moment, mode })));
}

const all = FAULTS.flatMap(trialsOf);
const tried = cases(
  all.filter(({ row }) => row.isQuick),
  all,
);
const NEEDED = { openssl: await hasOpenssl(), mount: process.getuid?.() === 0 && canUnshare() };

function endOf({ end }: FaultRow): string {
  if (typeof end === "string") return end;
  return "code" in end ? end.code : "reason" in end ? "its reason" : "right";
}

describe.runIf(await hasDask())("faults of a cluster", () => {
  for (const [kind, ofKind] of Map.groupBy(tried, ({ row: { cluster = "patient" } }) => cluster)) {
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
      const breaks = ({ row }: Trial) => Number(row.breaks ?? false);
      for (const { row, moment, mode } of ofKind.toSorted((a, b) => breaks(a) - breaks(b))) {
        const isPossible = row.needs === undefined || NEEDED[row.needs];
        test.runIf(isPossible)(`${row.fault}, ${moment} (${mode}): ${endOf(row)}`, async () => {
          open ??= CLUSTERS[kind]();
          const setting = await open;
          await attempt(setting, row, moment, mode);
          if (row.breaks) return await close();
          await setting?.mend("again" in row ? 0 : row.lost);
          await until(async () => setting === null || setting.isFree());
        });
      }
    });
  }
});

async function attempt(setting: FaultSetting | null, row: FaultRow, moment: string, mode: Mode) {
  await using scene = new Scene(setting, "attempt" in row ? {} : row, mode);
  if (isOwn(row)) await row.attempt(scene);
  else await attemptRun(scene, row, moment as keyof typeof MOMENTS);
}

const isOwn = (row: FaultRow): row is OwnRow => "attempt" in row;

async function attemptRun(scene: Scene, row: RunRow, moment: keyof typeof MOMENTS): Promise<void> {
  await MOMENTS[moment](scene, () => row.act(scene));
  const start = performance.now();
  if (!row.keepsGate) scene.setting?.gate.open();
  if ("reason" in row.end) await expect(scene.end).rejects.toBe(row.end.reason);
  else if ("code" in row.end) await expectRefused(scene.end, row.end, start);
  else await expectRight(scene, row.end);
  await row.also?.(scene);
  if (row.again === undefined) return;
  await scene.setting.mend(row.lost);
  const next = await scene.again();
  await scene.setting.expectRight(next);
  if (row.again !== true) row.again(next, scene);
}

async function expectRefused(end: Promise<unknown>, { code, says, seconds }: Refused, start: number) {
  const error: Error & { code?: string } = await end.then(
    () => new Error("it was right"),
    (reason) => reason,
  );
  if (says !== undefined) expect(error.message).toMatch(says);
  expect(error.code, error.message).toBe(code);
  if (seconds !== undefined) expect((performance.now() - start) / 1000).toBeLessThan(seconds);
}

async function expectRight(scene: Scene, { restarts, counters, workers, gone }: Right) {
  await scene.end;
  const { started } = scene;
  await scene.setting.expectRight(started);
  if (restarts !== undefined) expect(started.run.restarts).toBe(restarts);
  if (counters !== undefined) expect(countersOf(started)).toEqual(counters);
  if (workers !== undefined) expect(started.run.report?.workers).toHaveLength(workers);
  if (gone !== undefined) expect(started.run.report?.gone).toBe(gone);
}

test("docs/cluster_faults.md has each fault that a user may meet, and no other", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/cluster_faults.md"), "utf8");
  const [first] = page.split("\n## ");
  const cells = [...first!.matchAll(/^\| (?!fault |---)(.+?) \|/gm)].map(([, fault]) => fault);
  const met = FAULTS.filter(({ fault }) => fault !== CONTROL).map(({ fault }) => fault);
  expect(new Set(cells)).toEqual(new Set(met));
});
