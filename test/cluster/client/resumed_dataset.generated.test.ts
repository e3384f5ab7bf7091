import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { syntheticPanel } from "../../../src/bench/synthetic_panel.ts";
import type { ClusterRun } from "../../../src/cluster/client/cluster_run.ts";
import type { ClusterTask } from "../../../src/cluster/protocol/protocol.ts";
import { compile, type Program } from "../../../src/compile.ts";
import { panelSource } from "../../../src/data/panel/panel_source.ts";
import type { FactorloomError } from "../../../src/errors.ts";
import type { EngineHost } from "../../../src/evaluation/evaluation.ts";
import { startHost } from "../../../src/evaluation/start_host.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";
import type { InProcessOptions } from "../support/in_process_bridge.ts";
import { openInProcess } from "../support/in_process_run.ts";

/** Datasets whose run was broken off, and whose files something has changed: the next run makes them whole. */

const panel = syntheticPanel({ lanes: 6, rows: 40, nullShare: 0.05 });
const SLABS = 4;
interface Setting {
  readonly program: Program;
  /** Of a run from the start. */
  readonly tasks: number;
}
const joined: Setting = {
  program: compile("a = ts_mean(close, 5)\nb = cum_sum(volume)\nc = rank(open)"),
  tasks: 1 + 3 * SLABS,
};
const single: Setting = { program: compile("a = ts_mean(close, 5)"), tasks: SLABS };

const random = new Seeded();
const root = fileFolder();
let host: EngineHost;
beforeAll(async () => {
  host = await startHost({ threads: 1, cores: 1 });
});
afterAll(() => host.pool.close());

const newFolder = () => join(mkdtempSync(join(root, "case-")), "dataset");
const open = (
  { program }: Setting,
  dataset: string,
  options: InProcessOptions = {},
  slabRows: number | undefined = 10,
) => openInProcess(host, { program, source: panelSource(panel), dataset, slabRows }, options);

async function write(run: ClusterRun): Promise<ClusterRun> {
  for await (const _ of run.blocks()) throw new Error("rows came back to the client");
  return run;
}

/** Paths below a folder of files that match. */
const filesIn = (folder: string, pattern: RegExp) =>
  (readdirSync(folder, { recursive: true }) as string[])
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name))
    .sort();
const PART = /^part-.*\.parquet$/;
const COUNTS = /^\.part-.*\.json$/;
const COLUMNS = /\.columns$/;

/** Sums of parts, by name. */
function contentOf(folder: string): Record<string, number> {
  const files = filesIn(folder, PART);
  return Object.fromEntries(files.map((path) => [path.slice(folder.length), crc32(readFileSync(path))]));
}

interface Whole {
  readonly content: Record<string, number>;
  readonly counts: ClusterRun["counts"];
}
const wholes = new Map<Setting, Promise<Whole>>();

/** What a run from the start gives. */
async function wholeOf(setting: Setting): Promise<Whole> {
  const make = async () => {
    const folder = newFolder();
    let tasks = 0;
    const { counts } = await write(await open(setting, folder, { onTask: () => void tasks++ }));
    expect(tasks).toBe(setting.tasks);
    return { content: contentOf(folder), counts };
  };
  if (!wholes.has(setting)) wholes.set(setting, make());
  return await wholes.get(setting)!;
}

async function expectWhole(setting: Setting, folder: string, run: ClusterRun): Promise<void> {
  const { content, counts } = await wholeOf(setting);
  expect(contentOf(folder)).toEqual(content);
  expect(run.counts).toEqual(counts);
  expect(
    readdirSync(folder)
      .filter((name) => !name.startsWith("."))
      .sort(),
  ).toEqual(
    ["_complete.json", "_factorloom.json", ...Object.keys(content).map((name) => name.slice(1))].sort(),
  );
  expect(filesIn(folder, /\.tmp$/)).toEqual([]);
  expect(JSON.parse(readFileSync(join(folder, "_complete.json"), "utf8"))).toMatchObject({
    rows: counts.rowCount,
  });
}

/** Parts that a resumed run must not write again. */
function marksOf(folder: string): Record<string, bigint> {
  const isDone = (path: string) =>
    filesIn(folder, COUNTS).some((counts) =>
      counts.endsWith(`.${path.slice(folder.length + 1, -".parquet".length)}.json`),
    );
  return Object.fromEntries(
    filesIn(folder, PART)
      .filter(isDone)
      .map((path) => [path, statSync(path, { bigint: true }).ino]),
  );
}

async function breakOff(setting: Setting, folder: string, failAfter: number): Promise<void> {
  const run = await open(setting, folder, { failAfter });
  if (failAfter < setting.tasks) await expect(write(run)).rejects.toThrow("broken off");
  else await write(run);
}

describe.each([
  ["joined", joined],
  ["of one share", single],
] as const)("a dataset that is %s", (_, setting) => {
  test("may be broken off after any task; a second run, on other workers, keeps its cut and its parts", async () => {
    for (let failAfter = 0; failAfter <= setting.tasks; failAfter++) {
      const folder = newFolder();
      await breakOff(setting, folder, failAfter);
      const marks = marksOf(folder);
      // A run of itself would be cut otherwise.
      const run = await open(setting, folder, {}, 17);
      expect(run.job.cut.slabRows).toEqual([0, 10, 20, 30, 40]);
      await write(run);
      await expectWhole(setting, folder, run);
      expect(run.restarts).toBe(0);
      expect(marksOf(folder)).toMatchObject(marks);
    }
  });
});

test("a kill after a part was renamed, before its counts: it is made again", async () => {
  const folder = newFolder();
  await breakOff(joined, folder, joined.tasks);
  rmSync(filesIn(folder, COUNTS)[1]!);
  await expectWhole(joined, folder, await write(await open(joined, folder)));
});

/** Changes a drawn file, or another file by it. */
const MUTATIONS: Readonly<Record<string, (path: string, other: string) => void>> = {
  remove: (path) => rmSync(path, { force: true }),
  truncate: (path) => writeFileSync(path, readFileSync(path).subarray(0, -1)),
  empty: (path) => writeFileSync(path, ""),
  flip: (path) => {
    const bytes = readFileSync(path);
    if (bytes.length > 0) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
    writeFileSync(path, bytes);
  },
  swap: (path, other) => {
    const bytes = readFileSync(path);
    writeFileSync(path, readFileSync(other));
    writeFileSync(other, bytes);
  },
  "half-written": (path) => {
    const hidden = join(dirname(path), `.${basename(path)}.0a0a.tmp`);
    writeFileSync(hidden, readFileSync(path).subarray(0, 9));
  },
  "column left": (path) => {
    const run = /-([0-9a-f]{16})/.exec(path)?.[1];
    if (run !== undefined) cpSync(path, join(dirname(path), "_columns", run, "0-0.columns"));
  },
};

/** Changes some file of a dataset; says which, null if it has none. */
function mutate(folder: string): string | null {
  const kind = [PART, COUNTS, COLUMNS][random.below(3)]!;
  const files = filesIn(folder, kind);
  if (files.length === 0) return null;
  const name = Object.keys(MUTATIONS)[random.below(Object.keys(MUTATIONS).length)]!;
  const [path, other] = [files[random.below(files.length)]!, files[random.below(files.length)]!];
  MUTATIONS[name]!(path, other);
  return `${name} ${path.slice(folder.length)}`;
}

test(`files that something changes between runs or in the middle, seed ${random.seed}`, async () => {
  for (let trial = 0; trial < trials(30, 100); trial++) {
    const setting = random.below(4) === 0 ? single : joined;
    const folder = newFolder();
    const failAfter = random.below(setting.tasks + 1);
    await breakOff(setting, folder, failAfter);
    const done: (string | null)[] = [];
    for (let count = random.below(3); count > 0; count--) done.push(mutate(folder));
    // In the middle: before which task, if at all.
    let left = random.below(3) === 0 ? random.below(setting.tasks) : -1;
    const onTask = (_: ClusterTask) => void (left-- === 0 && done.push(mutate(folder)));
    const marks = marksOf(folder);
    try {
      let run = await open(setting, folder, { onTask });
      const before = done.length;
      const error = await write(run).then(
        () => null,
        (reason: FactorloomError) => reason,
      );
      // A part that is changed after its task: seen at the end by size and rows, by the next run if it has other bytes.
      const changed = done.slice(before).some((each) => each?.endsWith(".parquet"));
      if (error !== null) expect([error.code, changed], error.message).toEqual(["E626", true]);
      if (changed) run = await write(await open(setting, folder));
      await expectWhole(setting, folder, run);
      if (done.length > 0) continue;
      expect(run.restarts).toBe(0);
      expect(marksOf(folder)).toMatchObject(marks);
    } catch (error) {
      throw new Error(`${(error as Error).message}\ntrial ${trial}, after ${failAfter}: ${done.join("; ")}`, {
        cause: error,
      });
    }
  }
});
