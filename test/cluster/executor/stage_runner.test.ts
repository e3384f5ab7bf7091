import { readFileSync, rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StageRunner } from "../../../src/cluster/executor/stage_runner.ts";
import { TaskRunner } from "../../../src/cluster/executor/task_runner.ts";
import type { ClusterJob, ClusterTask } from "../../../src/cluster/protocol/protocol.ts";
import { PANEL_STAGE } from "../../../src/cluster/protocol/tiles.ts";
import { compile } from "../../../src/compile.ts";
import { Engine } from "../../../src/engine.ts";
import { UsageError } from "../../../src/errors.ts";
import type { EvaluateOptions } from "../../../src/evaluation/options.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import type { Panel } from "../../../src/panel.ts";
import {
  bitsOf,
  copied,
  Folders,
  jobOf,
  outputTasks,
  rowsOf,
  runHeld,
  runnerOf,
  runStored,
  slabsOf,
  stageTasks,
  tableOf,
  wanderingPanel,
} from "../hand_made_job.ts";

/** 7 lanes in shards of 3: the last one has two lanes that are none of the panel's. */
const panel = wanderingPanel(130, 7);
const CUT = { shardLanes: 3, slabRows: [0, 50, 97, 130], blockRows: 16 };

const LANES = `
  mean = ts_mean(close, 12)
  corr = ts_corr(close, volume, 9)
  slow = ema(close, 10)
  decay = decay_linear(delta(close, 3), 7)
  total = cum_sum(volume)
  place = ts_rank(volume, 15)
  top = ts_argmax(close, 20)
`;

let engine: Engine;
const folders = new Folders();

beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});

afterAll(async () => {
  folders[Symbol.dispose]();
  await engine.close();
});

/** What the engine gives for the same text. */
async function expected(
  text: string,
  of: Panel,
  options: EvaluateOptions = {},
): Promise<Record<string, string>> {
  const program = compile(text, { fields: [...of.fields.keys()], groups: [...of.groups.keys()] });
  return bitsOf(await engine.evaluate(program, of, options));
}

function stored(job: ClusterJob): ClusterJob {
  return { ...job, exchange: "store", folder: folders.make() };
}

test("lanes with state, cut into slabs and shards, give the bits of one evaluation through files", async () => {
  const job = stored(jobOf(panel, { partition: CUT, stages: [{ kind: "lanes", text: LANES }] }));
  const runner = runnerOf(job, panel);
  const results = await runStored(job, () => runner);
  expect(bitsOf(await tableOf(job, panel, results))).toEqual(await expected(LANES, panel));
});

test("two processes that take turns hand over the state of shards in files", async () => {
  const job = stored(jobOf(panel, { partition: CUT, stages: [{ kind: "lanes", text: LANES }] }));
  const runners = [runnerOf(job, panel), runnerOf(job, panel)];
  // Of the three shards of a slab the middle one is the other's; in the next slab it is the other way round.
  const pick = (task: ClusterTask, index: number) =>
    runners[task.kind === "stage" ? (task.slab + task.part) % 2 : index % 2]!;
  const results = await runStored(job, pick);
  expect(bitsOf(await tableOf(job, panel, results))).toEqual(await expected(LANES, panel));
});

test("tiles as values give the same bits, with one process and with two", async () => {
  const job = jobOf(panel, { partition: CUT, stages: [{ kind: "lanes", text: LANES }] });
  const wanted = await expected(LANES, panel);
  const runners = [runnerOf(job, panel), runnerOf(job, panel)];
  for (const count of [1, 2]) {
    const results = await runHeld(job, (_, index) => runners[index % count]!);
    expect(bitsOf(await tableOf(job, panel, results))).toEqual(wanted);
  }
});

test("one shard over all lanes, in one slab and blocks longer than the panel", async () => {
  const job = jobOf(panel, {
    partition: { blockRows: 200 },
    stages: [{ kind: "lanes", text: LANES, blockRows: 64 }],
  });
  const runner = runnerOf(job, panel);
  const results = await runHeld(job, () => runner);
  expect(bitsOf(await tableOf(job, panel, results))).toEqual(await expected(LANES, panel));
});

const ROWS = `
  rank = rank(close)
  neutral = group_neutralize(close, sector)
  sized = rank(volume) * 2 - group_rank(close, sector)
  scaled = scale(close - volume)
`;

test("rows of all shards, with groups, give the same bits", async () => {
  const job = jobOf(panel, { partition: CUT, stages: [{ kind: "rows", text: ROWS, hasState: false }] });
  const wanted = await expected(ROWS, panel);
  const held = runnerOf(job, panel);
  expect(bitsOf(await tableOf(job, panel, await runHeld(job, () => held)))).toEqual(wanted);
  const asFiles = stored(job);
  const runner = runnerOf(asFiles, panel);
  expect(bitsOf(await tableOf(job, panel, await runStored(asFiles, () => runner)))).toEqual(wanted);
});

test("stages of lanes and rows that read each other and the panel", async () => {
  const mixed = jobOf(panel, {
    partition: CUT,
    stages: [
      { kind: "lanes", text: "fast = ts_mean(close, 4)\nslow = ema(close, 9)" },
      {
        kind: "rows",
        text: "a = rank(fast - slow)\nb = group_neutralize(fast, sector) + volume",
        imports: { fast: { stage: 0, series: 0 }, slow: { stage: 0, series: 1 } },
        hasState: false,
      },
      {
        kind: "lanes",
        text: "one = ts_sum(a, 6) / slow\ntwo = delta(b, 2) + close",
        imports: {
          a: { stage: 1, series: 0 },
          b: { stage: 1, series: 1 },
          slow: { stage: 0, series: 1 },
        },
      },
    ],
  });
  const factors = [
    ...mixed.factors,
    // Straight from an earlier stage, and from the panel.
    { name: "slow", origin: { stage: 0, series: 1 }, unwantedRows: [] },
    { name: "volume_now", origin: { stage: -1, series: 1 }, unwantedRows: [] },
  ];
  const job = { ...mixed, factors };
  const text = `
    let fast = ts_mean(close, 4)
    let a = rank(fast - slow)
    let b = group_neutralize(fast, sector) + volume
    one = ts_sum(a, 6) / slow
    two = delta(b, 2) + close
    slow = ema(close, 9)
    volume_now = volume
  `;
  const wanted = await expected(text, panel);
  const held = [runnerOf(job, panel), runnerOf(job, panel)];
  const byValue = await runHeld(job, (_, index) => held[index % 2]!);
  expect(bitsOf(await tableOf(job, panel, byValue))).toEqual(wanted);
  const asFiles = stored(job);
  const runners = [runnerOf(asFiles, panel), runnerOf(asFiles, panel)];
  const results = await runStored(asFiles, (_, index) => runners[(index >> 1) % 2]!);
  expect(bitsOf(await tableOf(job, panel, results))).toEqual(wanted);
});

test("lanes that fill up the last shard are null, and if they were not they would change nothing", async () => {
  const text = `${LANES}\nnow = close`;
  const job = jobOf(panel, { partition: CUT, stages: [{ kind: "lanes", text }] });
  const runner = runnerOf(job, panel);
  let filled = 0;
  const results = await runHeld(
    job,
    () => runner,
    ({ stage, slab, index }, bytes) => {
      if (stage !== PANEL_STAGE || index !== job.partition.shardCount - 1) return;
      const values = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
      for (let cell = 0; cell < values.length; cell++) {
        if (cell % 3 === 0) continue;
        expect(values[cell]).toBeNaN();
        values[cell] = [Number.POSITIVE_INFINITY, -0, 1e300, slab][filled++ % 4]!;
      }
    },
  );
  expect(filled).toBe(2 * 3 * panel.rowCount);
  expect(bitsOf(await tableOf(job, panel, results))).toEqual(await expected(text, panel));
});

test("a slab is run again after later ones, with the same bytes", async () => {
  const job = jobOf(panel, { partition: CUT, stages: [{ kind: "lanes", text: LANES }] });
  const runner = runnerOf(job, panel);
  const wanted = bitsOf(await tableOf(job, panel, await runHeld(job, () => runner)));
  // The same runner, whose arena stands after the last slab, from the first on.
  expect(bitsOf(await tableOf(job, panel, await runHeld(job, () => runner)))).toEqual(wanted);
});

test("a task in the middle is run again from files, whatever the arena holds", async () => {
  const job = stored(jobOf(panel, { partition: CUT, stages: [{ kind: "lanes", text: LANES }] }));
  const runner = runnerOf(job, panel);
  await runStored(job, () => runner);
  const other = stored(job);
  const rerun = runnerOf(other, panel);
  for (const slab of slabsOf(job)) {
    // Repeats each shard of a slab after all were done: the tile exists, so a new run computes it again.
    for (const task of stageTasks(other, slab)) await rerun.run(task);
    for (const part of [2, 0, 1]) {
      const name = `t00000${slab}/stage0-0000${part}`;
      rmSync(`${other.folder}/${name}.tile`);
      const { report } = await rerun.run({ kind: "stage", stage: 0, slab, part });
      expect(report.wasDone).toBe(false);
      for (const kind of ["tile", "state"]) {
        const bytes = readFileSync(`${other.folder}/${name}.${kind}`);
        expect(bytes.equals(readFileSync(`${job.folder}/${name}.${kind}`))).toBe(true);
      }
    }
  }
});

test("an uncut plan reads the rows before its slab, and no more", async () => {
  const text = "a = rank(ts_mean(close, 12))\nb = ts_corr(close, group_neutralize(volume, sector), 5)";
  const read: [number, number][] = [];
  const job = jobOf(panel, {
    partition: { slabRows: [0, 40, 90, 130], blockRows: 50 },
    stages: [{ kind: "rows", text, hasState: false }],
    warmUpRows: 15,
  });
  const runner = new TaskRunner(job, async (...args) => {
    const reader = await rowsOf(panel)(...args);
    return {
      ...reader,
      read: (rows, ...names) => {
        read.push([rows.first, rows.end]);
        return reader.read(rows, ...names);
      },
    };
  });
  const results: Uint8Array[][] = [];
  for (const slab of [2, 0, 1]) results[slab] = copied(await runner.run({ kind: "slab", slab }));
  expect(bitsOf(await tableOf(job, panel, results))).toEqual(await expected(text, panel));
  expect(read).toEqual([
    [75, 90],
    [90, 130],
    [0, 40],
    [25, 40],
    [40, 90],
  ]);
});

test("params, one value or one per row, and factors that are not wanted in some rows", async () => {
  const text = "param level = 2\nparam speed = 3\na = ts_sum(close * level, 4) + speed\nb = a - level";
  const level = Float64Array.from({ length: panel.rowCount }, (_, row) => row % 5);
  const job = jobOf(panel, {
    partition: CUT,
    stages: [{ kind: "lanes", text }],
    params: { level, speed: 4 },
    outputRows: [30, 120],
  });
  const factors = [
    job.factors[0]!,
    { ...job.factors[1]!, unwantedRows: [0, 35, 60, 61, 119, 130] },
    { name: "never", origin: null, unwantedRows: [] },
  ];
  const masked = { ...job, factors };
  const runner = runnerOf(masked, panel);
  const results = await runHeld(masked, () => runner);
  const found = await tableOf(masked, panel, results);
  expect(found.getChild("never")!.nullCount).toBe(found.numRows);
  // A field takes the place of the param.
  const withLevel = {
    ...panel,
    fields: new Map(panel.fields)
      .set("level", spread(level, panel.laneCount))
      .set("speed", spread(new Float64Array(panel.rowCount).fill(4), panel.laneCount)),
  };
  const plain = "a = ts_sum(close * level, 4) + speed\nb = a - level";
  const program = compile(plain, { fields: [...withLevel.fields.keys()] });
  const whole = await engine.evaluate(program, withLevel);
  const dates = [...whole.getChild("date")!].map((date) => Math.round(Number(date) / 86_400_000));
  const rowsOut = dates.flatMap((date, index) => (date >= 30 && date < 120 ? [index] : []));
  const [a, b] = [whole.getChild("a")!, whole.getChild("b")!];
  const isUnwanted = (row: number) => row < 35 || row === 60 || row === 119;
  expect([...found.getChild("a")!]).toEqual(rowsOut.map((index) => a.get(index)));
  expect([...found.getChild("b")!]).toEqual(
    rowsOut.map((index) => (isUnwanted(dates[index]!) ? null : b.get(index))),
  );
});

test("an operator of the user that throws is named, and the stage can be run again", async () => {
  const picky = defineOperator({
    name: "picky",
    axis: "elementwise",
    parameters: [{ name: "x", kind: "series" }],
    result: "series",
    unit: "other",
    nulls: "Null where x is null.",
    source: "made for a test",
    costNs: () => 1,
    summary: "x, if it is not too large.",
    examples: [{ formula: "picky(x)", inputs: { x: [1] }, output: [1] }],
    nullWhere: {},
    reference: (x) => {
      if (x > 999_000 && "isPicky" in globalThis) throw new RangeError("too large");
      return x;
    },
  });
  const text = "a = ts_sum(picky(volume), 3)";
  const large = panel.fields.get("volume")!.findIndex((value) => value > 999_000);
  // In the middle of a slab, so that blocks before it have run.
  expect(Math.floor(large / panel.laneCount)).toBeGreaterThan(16);
  const job = stored(
    jobOf(panel, {
      // One shard: its own state is the last that the arena holds.
      partition: { slabRows: [0, 10, 130], blockRows: 16 },
      stages: [{ kind: "lanes", text }],
      operators: [picky],
    }),
  );
  const runner = runnerOf(job, panel);
  Object.assign(globalThis, { isPicky: true });
  const failed = await runStored(job, () => runner).catch((error: unknown) => error);
  Reflect.deleteProperty(globalThis, "isPicky");
  expect(failed).toBeInstanceOf(UsageError);
  expect(failed).toMatchObject({ code: "E515", problem: "the operator picky failed: RangeError: too large" });
  const results = await runStored(job, () => runner);
  expect(bitsOf(await tableOf(job, panel, results))).toEqual(await expected("a = ts_sum(volume, 3)", panel));
});

test("a state of another stage is refused", () => {
  const one = jobOf(panel, { partition: CUT, stages: [{ kind: "lanes", text: "a = ema(close, 5)" }] });
  const two = jobOf(panel, { partition: CUT, stages: [{ kind: "lanes", text: "a = ts_mean(close, 40)" }] });
  const state = new StageRunner(one, 0).save();
  expect(() => new StageRunner(two, 0).restore(state)).toThrow("the state is of another stage");
});

test("the reference gives the same bits", async () => {
  const job = {
    ...jobOf(panel, { partition: CUT, stages: [{ kind: "lanes", text: LANES }] }),
    reference: true,
  };
  const runner = runnerOf(job, panel);
  const results = await runHeld(job, () => runner);
  expect(bitsOf(await tableOf(job, panel, results))).toEqual(await expected(LANES, panel));
});

test("tasks tell what they read and wrote", async () => {
  const job = stored(
    jobOf(panel, { partition: CUT, stages: [{ kind: "lanes", text: "a = ts_sum(close, 3)" }] }),
  );
  const runner = runnerOf(job, panel);
  for (const task of stageTasks(job, 0)) {
    const { report } = await runner.run(task);
    const isRead = task.kind === "read";
    expect(report.wasDone).toBe(false);
    expect(report.ns).toBeGreaterThan(0);
    // Of the three series of the panel a stage reads one, over 50 rows and 3 lanes.
    expect(report.bytesRead).toBe(isRead ? 0 : 50 * 3 * 8);
    expect(report.bytesWritten).toBeGreaterThan(50 * 3 * 8 * (isRead ? 0 : 1));
  }
  for (const task of outputTasks(job, 0)) {
    const { report } = await runner.run(task);
    expect(report.bytesWritten).toBe(0);
  }
});

function spread(perRow: Float64Array, laneCount: number): Float64Array<SharedArrayBuffer> {
  const values = new Float64Array(new SharedArrayBuffer(8 * perRow.length * laneCount));
  for (let cell = 0; cell < values.length; cell++) values[cell] = perRow[Math.floor(cell / laneCount)]!;
  return values;
}
