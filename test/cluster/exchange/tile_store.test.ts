import { existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { HeldPieces, HeldTile } from "../../../src/cluster/exchange/held_pieces.ts";
import { TileStore } from "../../../src/cluster/exchange/tile_store.ts";
import type { TaskRunner } from "../../../src/cluster/executor/task_runner.ts";
import { oneStrip } from "../../../src/cluster/protocol/column_rows.ts";
import type { ClusterJob, ClusterTask } from "../../../src/cluster/protocol/protocol.ts";
import { PANEL_STAGE, statePath, tileBytes, tilePath } from "../../../src/cluster/protocol/tiles.ts";
import { ResourceError } from "../../../src/errors.ts";
import { panelOf } from "../../panels.ts";
import {
  Folders,
  jobOf,
  outputTasks,
  runnerOf,
  stageTasks,
  takenResult,
  wanderingPanel,
} from "../hand_made_job.ts";

const panel = wanderingPanel(60, 5);
const folders = new Folders();
afterAll(() => folders[Symbol.dispose]());

/** A job of two slabs and two shards, with a stage of lanes that others read; its tiles in a folder of its own. */
function storedJob(): ClusterJob & { readonly folder: string } {
  const job = jobOf(panel, {
    partition: { shardLanes: 3, slabRows: [0, 32, 60], blockRows: 16 },
    stages: [
      { kind: "lanes", text: "a = ts_sum(close, 3)\nb = ema(volume, 5)\nc = close + 1\nd = volume" },
      {
        kind: "rows",
        text: "r = rank(a) + rank(c) + d",
        imports: {
          a: { stage: 0, series: 0 },
          c: { stage: 0, series: 2 },
          d: { stage: 0, series: 3 },
        },
        hasState: false,
      },
    ],
  });
  return { ...job, exchange: "store", folder: folders.make() };
}

const LANES: ClusterTask = { kind: "stage", stage: 0, slab: 1, part: 1 };

/** A runner after all stages of the first slab and the panel of the second. */
async function afterFirstSlab(job: ClusterJob): Promise<TaskRunner> {
  const runner = runnerOf(job, panel);
  for (const task of stageTasks(job, 0)) await runner.run(task);
  for (const task of stageTasks(job, 1)) if (task.kind === "read") await runner.run(task);
  return runner;
}

async function faultOf(running: Promise<unknown>): Promise<ResourceError> {
  const error = await running.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ResourceError);
  return error as ResourceError;
}

describe("tiles as files", () => {
  test("have the length of their pieces, and nothing else is left beside them", async () => {
    const job = storedJob();
    await afterFirstSlab(job);
    const names = readdirSync(join(job.folder, "t000000")).sort();
    expect(names).toEqual([
      "panel-00000.tile",
      "panel-00001.tile",
      "stage0-00000.state",
      "stage0-00000.tile",
      "stage0-00001.state",
      "stage0-00001.tile",
      "stage1-00000.tile",
      "stage1-00001.tile",
    ]);
    const store = new TileStore(job, job.folder);
    expect(store.has(PANEL_STAGE, 0, 1)).toBe(true);
    expect(store.has(0, 0, 1)).toBe(true);
    expect(store.has(0, 1, 1)).toBe(false);
  });

  test("give only the series asked for, whether they lie side by side or not", async () => {
    const job = storedJob();
    const runner = await afterFirstSlab(job);
    const { report } = await runner.run({ kind: "stage", stage: 1, slab: 0, part: 1 });
    expect(report.wasDone).toBe(true);
    rmSync(join(job.folder, tilePath(1, 0, 1)));
    const again = await runner.run({ kind: "stage", stage: 1, slab: 0, part: 1 });
    // Three series of two shards of three lanes over 16 rows.
    expect(again.report.bytesRead).toBe(3 * 2 * 3 * 16 * 8);
    const store = new TileStore(job, job.folder);
    const piece = { stage: 0, slab: 0, part: 0, index: 1 };
    const width = 3;
    const read = (
      series: readonly number[],
      rows = { first: 0, end: 16 },
      lanes = { first: 0, count: 3 },
    ) => {
      const columns = series.map(() => new Float64Array((rows.end - rows.first) * width));
      const reads = columns.map((values, index) => ({
        series: series[index]!,
        target: oneStrip(values, width),
      }));
      store.read(0).read(piece, rows, reads, lanes);
      return columns.map((values) => [...values]);
    };
    const all = read([0, 1, 2, 3]);
    expect(read([0, 2, 3])).toEqual([all[0], all[2], all[3]]);
    expect(read([1])).toEqual([all[1]]);
    const close = panel.fields.get("close")!;
    expect(all[2]!.slice(0, 3)).toEqual([...close.subarray(16 * 5, 16 * 5 + 3)].map((value) => value + 1));
    // Rows and lanes of it: the other lanes of the columns stay as they are.
    const part = read([0, 1, 3], { first: 4, end: 7 }, { first: 1, count: 2 });
    const expected = [0, 1, 3].map((series) =>
      [4, 5, 6].flatMap((row) => [0, ...all[series]!.slice(row * width, row * width + 2)]),
    );
    expect(part).toEqual(expected);
    store.close();
  });

  test("a tile that is there is not made again", async () => {
    const job = storedJob();
    const runner = await afterFirstSlab(job);
    const tasks = stageTasks(job, 0);
    for (const task of tasks) {
      const { report, buffers } = await runner.run(task);
      expect([report.wasDone, report.bytesRead, report.bytesWritten, buffers]).toEqual([true, 0, 0, []]);
    }
  });

  test("a tile without its state, or one cut short, is made again", async () => {
    const job = storedJob();
    const runner = await afterFirstSlab(job);
    const task: ClusterTask = { kind: "stage", stage: 0, slab: 0, part: 1 };
    const wasDone = async () => (await runner.run(task)).report.wasDone;
    const state = join(job.folder, statePath(0, 0, 1));
    const tile = join(job.folder, tilePath(0, 0, 1));
    rmSync(state);
    expect(await wasDone()).toBe(false);
    truncateSync(state, 100);
    expect(await wasDone()).toBe(false);
    truncateSync(tile, 8);
    expect(await wasDone()).toBe(false);
    expect(await wasDone()).toBe(true);
  });

  test("a missing piece, or one cut short, is E610 and names the file; nothing stays of what was begun", async () => {
    const missing = [
      ["panel tile", tilePath(PANEL_STAGE, 1, 0), LANES],
      ["state", statePath(0, 0, 1), LANES],
      ["lanes tile", tilePath(0, 1, 0), { kind: "stage", stage: 1, slab: 1, part: 0 }],
      ["presence", tilePath(PANEL_STAGE, 0, 1), { kind: "output", slab: 0, block: 1 }],
    ] as const;
    for (const [, path, task] of missing) {
      const job = storedJob();
      await afterFirstSlab(job);
      const file = join(job.folder, path);
      // In another process: this one still has the state of the shard.
      const runner = runnerOf(job, panel);
      for (const damage of [
        () => existsSync(file) && truncateSync(file, 40),
        () => rmSync(file, { force: true }),
      ]) {
        damage();
        const error = await faultOf(runner.run(task));
        expect(error.code).toBe("E610");
        expect(error.problem).toContain(file);
        expect(readdirSync(join(job.folder, "t000001")).filter((name) => name.endsWith(".tmp"))).toEqual([]);
      }
    }
  });

  test("a folder that is gone, or that is no folder, is E609", async () => {
    const job = storedJob();
    const runner = runnerOf(job, panel);
    rmSync(job.folder, { recursive: true });
    const error = await faultOf(runner.run({ kind: "read", slab: 0, block: 0 }));
    expect([error.code, error.problem]).toEqual([
      "E609",
      expect.stringContaining(join(job.folder, "t000000")),
    ]);
    mkdirSync(job.folder);
    writeFileSync(join(job.folder, "t000000"), "");
    expect((await faultOf(runner.run({ kind: "read", slab: 0, block: 0 }))).code).toBe("E609");
  });

  test("a state that cannot be written is E609, and no tile gets its name without it", async () => {
    const job = storedJob();
    const runner = await afterFirstSlab(job);
    // A folder is in its place.
    mkdirSync(join(job.folder, statePath(0, 1, 1)), { recursive: true });
    const error = await faultOf(runner.run(LANES));
    expect(error.code).toBe("E609");
    expect(existsSync(join(job.folder, tilePath(0, 1, 1)))).toBe(false);
    expect(readdirSync(join(job.folder, "t000001")).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("freeing a slab leaves its states for the next one, and its tasks have nothing to do", async () => {
    const job = storedJob();
    const runner = await afterFirstSlab(job);
    new TileStore(job, job.folder!).free(0);
    const first = join(job.folder, "t000000");
    expect(readdirSync(first).sort()).toEqual(["stage0-00000.state", "stage0-00001.state"]);
    const other = runnerOf(job, panel);
    for (const task of stageTasks(job, 0)) expect((await other.run(task)).report.wasDone).toBe(true);
    expect((await faultOf(other.run(outputTasks(job, 0)[0]!))).code).toBe("E610");
    for (const task of stageTasks(job, 1)) await other.run(task);
    const output = outputTasks(job, 1)[0]!;
    expect(await takenResult(job, output, await other.run(output))).toHaveLength(2);
    new TileStore(job, job.folder!).free(1);
    expect(existsSync(first)).toBe(false);
    // Once more, and the one before: nothing is taken back.
    new TileStore(job, job.folder!).free(1);
    new TileStore(job, job.folder!).free(0);
    for (const task of stageTasks(job, 1)) expect((await runner.run(task)).report.wasDone).toBe(true);
  });
});

describe("tiles as values", () => {
  test("the panel is cut into shards: fields, then codes, NaN for null, then presence", async () => {
    const small = panelOf({
      price: [
        [1, 2, 3],
        [4, null, 6],
      ],
      sector: [
        ["a", null, "b"],
        ["b", "a", null],
      ],
    });
    small.present[4] = 0;
    const job = jobOf(small, {
      partition: { shardLanes: 2, blockRows: 2 },
      stages: [{ kind: "lanes", text: "x = price" }],
    });
    const { buffers } = await runnerOf(job, small).run({ kind: "read", slab: 0, block: 0 });
    const none = Number.NaN;
    const [first, second, present] = buffers;
    expect([...new Float64Array(first!.slice().buffer)]).toEqual([1, 2, 4, none, 0, none, 1, 0]);
    expect([...new Float64Array(second!.slice().buffer)]).toEqual([3, none, 6, none, 1, none, none, none]);
    expect([...present!]).toEqual([1, 1, 1, 1, 0, 1]);
  });

  test("a buffer too few, or one of another length, is refused", () => {
    const job = { ...storedJob(), exchange: "memory" } as const;
    const bytes = tileBytes(job, 0, 0, 0);
    expect(() => new HeldPieces(job, { kind: "stage", stage: 1, slab: 0, part: 0 }, [])).toThrow(
      "reads 2 pieces came with 0 buffers",
    );
    const buffers = [new Uint8Array(bytes / 2), new Uint8Array(bytes / 2 - 8)];
    const held = new HeldPieces(job, { kind: "stage", stage: 1, slab: 0, part: 0 }, buffers);
    const read = (part: number) => {
      const reads = [{ series: 1, target: oneStrip(new Float64Array(16 * 3), 3) }];
      held.read({ stage: 0, slab: 0, part, index: 0 }, { first: 0, end: 16 }, reads, { first: 0, count: 3 });
    };
    read(0);
    expect(held.bytesRead).toBe(16 * 3 * 8);
    expect(() => read(1)).toThrow("bytes");
  });

  test("a tile holds until the next one, in the same memory", () => {
    const rooms: never[] = [];
    const first = new HeldTile(rooms);
    const add = (tile: HeldTile, values: number[]) => {
      const shape = { seriesCount: 1, rowCount: 1, laneCount: values.length + 1 };
      const lanes = { first: 0, count: values.length };
      tile.addPiece(shape).write(0, [oneStrip(Float64Array.from(values), values.length)], lanes);
    };
    add(first, [1, 2, 3]);
    first.addPresence(Uint8Array.of(1, 0, 1));
    const pieces = first.finish();
    expect(pieces.map((piece) => piece.length)).toEqual([32, 3]);
    expect([...pieces[1]!]).toEqual([1, 0, 1]);
    const second = new HeldTile(rooms);
    add(second, [4]);
    const [piece] = second.finish();
    expect(piece!.buffer).toBe(pieces[0]!.buffer);
    expect([...new Float64Array(piece!.buffer, 0, 2)]).toEqual([4, Number.NaN]);
  });
});
