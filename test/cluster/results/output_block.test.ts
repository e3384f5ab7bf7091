import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TileStore } from "../../../src/cluster/exchange/tile_store.ts";
import type { ClusterJob } from "../../../src/cluster/protocol/protocol.ts";
import { compile } from "../../../src/compile.ts";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import { writeTable } from "../../../src/data/write/write_table.ts";
import { Engine } from "../../../src/engine.ts";
import {
  Folders,
  jobOf,
  outputTasks,
  runnerOf,
  slabsOf,
  stageTasks,
  takenResult,
  wanderingPanel,
} from "../hand_made_job.ts";

const panel = wanderingPanel(60, 5);
// Nobody trades in rows 16 to 31: a block without a line.
panel.present.fill(0, 16 * 5, 32 * 5);
const TEXT = "a = ts_sum(close, 3)\nb = 1 / (ts_count(volume > 3e5, 4) - 2)";
const folders = new Folders();
let engine: Engine;

beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(async () => {
  folders[Symbol.dispose]();
  await engine.close();
});

function datasetJob(keepInfinite: boolean, warmUpRows: number | null = null) {
  const folder = folders.make();
  const slabs = { slabRows: [0, 32, 60], blockRows: 16 };
  const job: ClusterJob = jobOf(panel, {
    exchange: "store",
    folder: folders.make(),
    partition: warmUpRows === null ? { ...slabs, shardLanes: 2 } : slabs,
    stages: [{ kind: warmUpRows === null ? "lanes" : "rows", text: TEXT, hasState: warmUpRows === null }],
    outputRows: [5, 50],
    dataset: { folder, keepInfinite },
    warmUpRows,
  });
  return { job, folder };
}

/** What `writeTable` writes of the same rows. */
async function wholeFile(keepInfinite: boolean): Promise<string> {
  const program = compile(TEXT, { fields: ["close", "volume"] });
  const table = await engine.evaluate(program, panel, { keepInfinite, from: "1970-01-06", to: "1970-02-19" });
  const path = join(folders.make(), "whole.parquet");
  await writeTable(table, path);
  return path;
}

/** The lines of Parquet files as read again, by time and symbol. */
async function linesOf(paths: readonly string[]): Promise<string[]> {
  const lines = await Promise.all(
    paths.map(async (path) => {
      const { rowCount, laneCount, time, symbols, fields, present } = await readPanel(path);
      return Array.from({ length: rowCount * laneCount }, (_, cell) => cell)
        .filter((cell) => present[cell] === 1)
        .map((cell) => {
          const [row, lane] = [Math.floor(cell / laneCount), cell % laneCount];
          return [
            time.values[row],
            symbols[lane],
            ...[...fields.values()].map((values) => values[cell]),
          ].join(" ");
        });
    }),
  );
  return lines.flat();
}

describe.each([false, true])("a dataset, with infinities kept: %s", (keepInfinite) => {
  test("its files hold what one file would, and their counts add up", async () => {
    const { job, folder } = datasetJob(keepInfinite);
    const runner = runnerOf(job, panel);
    const counts = [];
    for (const slab of slabsOf(job)) {
      for (const task of stageTasks(job, slab)) await runner.run(task);
      for (const task of outputTasks(job, slab)) counts.push((await runner.run(task)).report.counts!);
    }
    const names = readdirSync(folder).filter((name) => !name.startsWith("."));
    expect(names.sort()).toEqual([
      "part-000000-0000-.parquet",
      "part-000001-0000-.parquet",
      "part-000001-0001-.parquet",
    ]);
    const lines = await linesOf(names.sort().map((name) => join(folder, name)));
    expect(lines).toEqual(await linesOf([await wholeFile(keepInfinite)]));
    expect(lines.some((line) => /Infinity/.test(line))).toBe(keepInfinite);
    const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
    expect(sum(counts.map(({ rowCount }) => rowCount))).toBe(lines.length);
    expect(counts[1]).toEqual({ rowCount: 0, nulls: [0, 0], nonFinite: [0, 0], bytes: 0 });
    const isNull = (line: string, column: number) => line.split(" ")[2 + column] === "NaN";
    for (const column of [0, 1]) {
      expect(sum(counts.map(({ nulls }) => nulls[column]!))).toBe(
        lines.filter((line) => isNull(line, column)).length,
      );
    }
    expect(sum(counts.map(({ nonFinite }) => nonFinite[1]!))).toBeGreaterThan(0);
  });

  test("slabs that are independent give the same", async () => {
    const { job, folder } = datasetJob(keepInfinite, 6);
    const runner = runnerOf(job, panel);
    const counts = [];
    for (const slab of slabsOf(job)) counts.push((await runner.run({ kind: "slab", slab })).report.counts!);
    const paths = [0, 1].map((slab) => join(folder, `part-00000${slab}-0000-.parquet`));
    const lines = await linesOf(paths);
    expect(lines).toEqual(await linesOf([await wholeFile(keepInfinite)]));
    expect(counts.reduce((total, { rowCount }) => total + rowCount, 0)).toBe(lines.length);
    for (const slab of slabsOf(job)) {
      const { report } = await runner.run({ kind: "slab", slab });
      expect([report.wasDone, report.counts]).toEqual([true, counts[slab]]);
    }
  });
});

test("a file that is there is not written again, and its counts are known even when the tiles are gone", async () => {
  const { job, folder } = datasetJob(false);
  const runner = runnerOf(job, panel);
  for (const task of stageTasks(job, 0)) await runner.run(task);
  const first = [];
  for (const task of outputTasks(job, 0)) first.push((await runner.run(task)).report);
  expect(first.map(({ wasDone }) => wasDone)).toEqual([false, false]);
  new TileStore(job, job.folder!).free(0);
  for (const [index, task] of outputTasks(job, 0).entries()) {
    const { report } = await runnerOf(job, panel).run(task);
    expect([report.wasDone, report.counts]).toEqual([true, first[index]!.counts]);
  }
  rmSync(join(folder, "part-000000-0000-.parquet"));
  const again = runnerOf(job, panel).run(outputTasks(job, 0)[0]!);
  await expect(again).rejects.toMatchObject({ code: "E610" });
  expect(existsSync(join(folder, "part-000000-0000-.parquet"))).toBe(false);
});

test("rows outside of the output are left out; where none are left buffers are empty", async () => {
  const job = jobOf(panel, {
    exchange: "store",
    folder: folders.make(),
    partition: { shardLanes: 2, slabRows: [0, 32, 60], blockRows: 16 },
    stages: [{ kind: "lanes", text: TEXT }],
    outputRows: [20, 25],
  });
  const runner = runnerOf(job, panel);
  for (const task of stageTasks(job, 0)) await runner.run(task);
  const lengths = [];
  for (const task of outputTasks(job, 0)) {
    const buffers = await takenResult(job, task, await runner.run(task));
    lengths.push(buffers.map((buffer) => buffer.length));
  }
  expect(lengths).toEqual([
    [0, 0, 0],
    [5 * 5 * 8, 5 * 5 * 8, 5 * 5],
  ]);
});
