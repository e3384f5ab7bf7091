import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, vi } from "vitest";
import { ColumnFile } from "../../../src/cluster/results/column_file.ts";
import { partStem } from "../../../src/cluster/results/dataset_part.ts";
import { inNamespace } from "../../support/namespaces.ts";
import { until } from "../../support/until.ts";
import { foundDone, type StartedRun } from "../support/fault_setting.ts";
import { at, killAllWorkers, type RunRow, row } from "./fault_row.ts";
import { copiesOf, ONE, type Scene } from "./scene.ts";

const WORKER = /worker (worker-\d+|apart) \(tcp:\S+\) on \S+/.source;
const mount = (...args: string[]) => execFileSync("mount", args);
const [UNSENT, LATE] = ["before its first task", "in its last slab"] as const;

/** Of the last slab, whose join is to come. */
/** A file of columns that is there. */
function columnsOf({ started: { run }, dataset }: Scene): string {
  const { shares, slabRows } = run.job.cut;
  return slabRows
    .slice(1)
    .flatMap((_, slab) => shares.map((_, share) => new ColumnFile(run.job, dataset, share, slab)))
    .find((file) => file.isThere())!.path;
}
const partOf = ({ started: { run }, dataset }: Scene, slab: number) =>
  join(dataset, `${partStem(run.job, slab)}.parquet`);
/** Those of the first two slabs are there. */
async function firstPart(scene: Scene): Promise<string> {
  const path = partOf(scene, 0);
  await until(() => existsSync(join(dirname(path), `.${partStem(scene.started.run.job, 1)}.json`)));
  return path;
}

/** A file system that has no room for a result. */
function mountSmall(path: string, scene: Scene): string {
  mkdirSync(path);
  mount("-t", "tmpfs", "-o", "size=100k", "tmpfs", path);
  scene.defer(() => execFileSync("umount", ["--lazy", path]));
  return path;
}

/** A folder becomes read-only, until the end of the row or of `undo`. */
async function makeReadOnly(scene: Scene): Promise<void> {
  const path = scene.dataset;
  // Over itself: what is open for writing would keep it from being remounted.
  mount("--bind", path, path);
  scene.defer(() => makeWritable(path));
  // The executor that does not wait at the gate may be writing.
  await until(() => {
    try {
      mount("-o", "remount,bind,ro", path);
    } catch {
      return false;
    }
    return true;
  });
}

function makeWritable(path: string): void {
  try {
    execFileSync("umount", ["--lazy", path], { stdio: "ignore" });
  } catch {
    // It is writable already.
  }
}

/** A worker, called `apart`, that sees an empty folder of its own where the client has that of the result. */
async function startApart(scene: Scene): Promise<{ workers: readonly string[] }> {
  const place = dirname(scene.dataset);
  const mounting = [...inNamespace("--mount"), "sh", "-c", 'mount -t tmpfs tmpfs "$0" && exec "$@"', place];
  const folder = ["--local-directory", join(scene.setting.folder, "apart")];
  await scene.startDask(
    ["worker", scene.setting.dask.address, ...ONE, "--name", "apart", ...folder],
    mounting,
  );
  await until(async () => (await scene.setting.counts()).workers === 3);
  return { workers: ["apart"] };
}

/** Other bars under the path, until the end of the row. */
function exchangeBars({ setting: { path } }: Scene): void {
  cpSync(path, `${path}.elsewhere`);
  cpSync(path, `${path}.next`);
  appendFileSync(`${path}.next`, "other");
  renameSync(`${path}.next`, path);
}
const moveBars = ({ setting: { path } }: Scene) => renameSync(path, `${path}.elsewhere`);
const barsBack = ({ setting: { path } }: Scene) => renameSync(`${path}.elsewhere`, path);

async function expectNothingUnfinished(scene: Scene): Promise<void> {
  await until(() => scene.setting.isFree());
  const left = readdirSync(scene.dataset, { recursive: true }).map(String);
  expect(
    left.filter((name) => /tmp$|owner/.test(name)),
    "neither unfinished files nor a claim",
  ).toEqual([]);
  mount("-o", "remount,size=10m", scene.dataset);
}
async function loseHolders(scene: Scene): Promise<void> {
  await killAllWorkers(scene);
  await until(async () => (await scene.setting.counts()).workers === 2);
}
function blockCopy(scene: Scene): void {
  for (const copy of copiesOf(scene, scene.begun)) {
    mkdirSync(`${copy}.part`);
    scene.defer(() => rmSync(`${copy}.part`, { recursive: true }));
  }
}
function hideTemporary(scene: Scene): void {
  vi.stubEnv("TMPDIR", join(scene.dataset, "nowhere"));
  scene.defer(() => vi.unstubAllEnvs());
}
const usesParts = (next: StartedRun) => expect(foundDone(next)).toBeGreaterThan(0);
const other = ({ dataset }: Scene) => join(dataset, "other.parquet");
const addOther = (scene: Scene) => writeFileSync(other(scene), "");
const removeOther = (scene: Scene) => rmSync(other(scene));
function moveFolder({ dataset }: Scene): void {
  renameSync(dataset, `${dataset}.moved`);
  mkdirSync(dataset);
}
function folderBack({ dataset }: Scene): void {
  rmSync(dataset, { recursive: true });
  renameSync(`${dataset}.moved`, dataset);
  // The client could not find its claim.
  rmSync(join(dataset, "_owner.json"));
}
const deleteColumns = (scene: Scene) => rmSync(columnsOf(scene));
const cutColumns = (scene: Scene) => truncateSync(columnsOf(scene), 8);
const deletePart = async (scene: Scene) => rmSync(await firstPart(scene));
const cutPart = async (scene: Scene) => truncateSync(await firstPart(scene), 8);
async function expectNoBars(scene: Scene): Promise<void> {
  await expect(scene.again()).rejects.toBeInstanceOf(Error);
  barsBack(scene);
}
const inSmall = (scene: Scene) =>
  existsSync(scene.dataset) ? {} : { dataset: mountSmall(scene.dataset, scene) };

const refused = (code: string, says: string) => ({ code, says: new RegExp(`^${code} ${says}`) });
const [PART, NOT_SHARED] = ["\\S+ does not hold .*: part-000000-\\w+\\.parquet", "\\S+ is not shared:"];
const JOINED = [at(LATE, "dataset")];
const COLUMNS = [at("after columns of a slab are there", "dataset")];
const READY = [at(UNSENT, "chunks", "dataset")];
const LATER = [at(LATE, "chunks", "dataset"), at("over all rows", "dataset")];
const BOTH = ["dataset", "parts"] as const;
const COPIED = [at("while the bars are copied", "copied")];
const BACK = { also: barsBack, again: true } as const;
const MOUNT = { needs: "mount" } as const;
const NO_BARS = refused("E615", "the workers cannot read \\S+bars\\.parquet: ENOENT");
const OTHER_BARS = refused("E615", "\\S+ sees another \\S+bars\\.parquet than the client: \\d+ bytes, there");
const MISSING = refused("E626", `${PART} is missing\n {2}run again`);
const CUT = refused("E626", `${PART} has 8 of \\d+ bytes`);
const FOREIGN = refused("E626", "\\S+ does not hold .*: other\\.parquet is not one of its parts");
const FULL = refused("E442", `${WORKER} cannot write .*ENOSPC.*\n {2}check the free space`);
const READ_ONLY = refused("E442", `${WORKER} cannot write \\S+`);
const NO_COPY = { code: "E442", says: /cannot write \S+factorloom-panel-\w+\.arrow: .*Is a directory/ };
const NO_FILE = refused("E442", "the client cannot write \\S+nowhere\\S*: ENOENT");

/** What stands where workers read and write. */
export const FILE_ROWS: readonly RunRow[] = [
  row("workers do not see the bars", READY, moveBars, NO_BARS, { also: expectNoBars, again: true }),
  row("other bars come under the path", LATER, exchangeBars, OTHER_BARS, BACK),
  row("columns that wait for a join are deleted", COLUMNS, deleteColumns, { restarts: 1 }),
  row("columns that wait for a join are cut short", COLUMNS, cutColumns, { restarts: 1 }),
  row("a part is deleted", JOINED, deletePart, MISSING, { again: usesParts }),
  row("a part is cut short", JOINED, cutPart, CUT, { again: usesParts }),
  row("another file comes into the folder of the result", JOINED, addOther, FOREIGN, {
    also: removeOther,
    again: true,
  }),
  row(
    "another folder comes under the path of the result",
    JOINED,
    moveFolder,
    refused("E614", `${NOT_SHARED} ${WORKER}`),
    { also: folderBack, again: true },
  ),
  row("the folder of the result has no room", [at(UNSENT, "dataset")], () => {}, FULL, {
    ...MOUNT,
    run: inSmall,
    also: expectNothingUnfinished,
    again: usesParts,
  }),
  row(
    "the folder of the result becomes read-only",
    [at("in its first slab", ...BOTH)],
    makeReadOnly,
    READ_ONLY,
    {
      ...MOUNT,
      also: ({ dataset }) => makeWritable(dataset),
    },
  ),
  row(
    "a worker sees another file system where the folder of the result is",
    [at("while it connects", ...BOTH)],
    startApart,
    refused("E614", `${NOT_SHARED} worker apart \\(tcp:\\S+\\) on \\S+ does not see there what`),
    MOUNT,
  ),
  row("workers are killed that hold the bars which the client has brought", COPIED, loseHolders, {
    restarts: 1,
  }),
  row(
    "a worker has no place for the bars which the client has brought",
    [at(UNSENT, "copied")],
    blockCopy,
    NO_COPY,
  ),
  row(
    "the client has no place for the bars which it brings",
    [at("between two runs", "copied")],
    hideTemporary,
    NO_FILE,
  ),
];
