import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { ClusterRun } from "../../src/cluster/client/cluster_run.ts";
import { DatasetFolder } from "../../src/cluster/results/dataset_folder.ts";
import { compile } from "../../src/compile.ts";
import { factorTableOfBlocks } from "../../src/data/factors/factor_table.ts";
import { openPanelSource } from "../../src/data/source/open_panel_source.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { writeTable } from "../../src/data/write/write_table.ts";
import { Engine } from "../../src/engine.ts";
import { FactorloomError } from "../../src/errors.ts";
import { sharedColumn } from "../../src/evaluation/shared_columns.ts";
import { DEFAULT_COSTS } from "../../src/plan/cost_model.ts";
import { fileFolder } from "../support/file_folder.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { wanderingPanel } from "./hand_made_job.ts";
import { differenceOf } from "./support/difference.ts";
import { type InProcessOptions, inProcessHost } from "./support/in_process_bridge.ts";
import { panelTable } from "./support/panel_table.ts";

/**
 * What a run left is changed before the same run takes it up: it ends as one `eval`, or with an error, never otherwise.
 * Runs are those of a cluster, whose tasks this process executes.
 */
const program = compile(
  "smooth = ema(rank(close), 5)\nfast = ts_mean(volume, 3) - cum_sum(close)\nr = rank(fast)",
);
const finite = compile("m = ts_mean(close, 4)\nr = rank(m)");
const SHAPE = { rows: 48, lanes: 6 };

/** Other prices. */
function risen(values: Float64Array): Float64Array<SharedArrayBuffer> {
  const target = sharedColumn(values.length);
  values.forEach((value, cell) => {
    target[cell] = value * 1.5 + 1;
  });
  return target;
}

type Table = Awaited<ReturnType<Engine["evaluate"]>>;
const folder = fileFolder();
let bars: string;
let otherBars: string;
let engine: Engine;
const expected = new Map<object, Table>();
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
  [bars, otherBars] = [join(folder, "bars.parquet"), join(folder, "other.parquet")];
  const panel = wanderingPanel(SHAPE.rows, SHAPE.lanes);
  const other = { ...panel, fields: new Map(panel.fields) };
  other.fields.set("close", risen(panel.fields.get("close")!));
  await writeTable(await panelTable(panel), bars);
  await writeTable(await panelTable(other), otherBars);
  for (const each of [program, finite])
    expected.set(each, await engine.evaluate(each, await readPanel(bars)));
});
afterAll(async () => {
  await engine.close();
});

interface Call extends InProcessOptions {
  readonly place: string;
  readonly cut: "stages" | "slabs";
  readonly toDataset: boolean;
  readonly isBrought?: boolean;
  readonly code?: string;
  readonly data?: string;
}

/** Runs to the end; the table that was given, or that the dataset holds. @throws as the run. */
async function runHere(call: Call): Promise<Table> {
  const { place, cut, toDataset, isBrought = false, code = "code", data = bars } = call;
  const dataset = toDataset ? join(place, "dataset") : null;
  const store = join(place, "store");
  mkdirSync(store, { recursive: true });
  const source = await openPanelSource(data);
  try {
    const run = await ClusterRun.open(
      inProcessHost(call),
      {
        program: cut === "slabs" ? finite : program,
        registry: builtInRegistry,
        source,
        path: isBrought ? null : data,
        sourceOptions: {},
        options: {},
        costs: DEFAULT_COSTS,
        threadCount: 2,
        store,
        code,
        dataset,
        cut,
        partition: { shardLanes: 2, slabRows: 16, blockRows: 8 },
      },
      {},
    );
    const { time, symbols } = source;
    const columns = { time, symbols, factors: run.wanted.factors.map(({ name }) => name) };
    const { table } = await factorTableOfBlocks(columns, run.blocks());
    if (dataset === null) return table;
    expect(Object.keys(JSON.parse(readFileSync(join(dataset, "_complete.json"), "utf8")))).toEqual([
      "run",
      "rows",
      "parts",
    ]);
    return await datasetTable(dataset, run.counts.rowCount);
  } finally {
    await source.close();
  }
}

/** The dataset as a reader of it sees it, through a program of its own columns. */
async function datasetTable(dataset: string, rowCount: number): Promise<Table> {
  const panel = await readPanel(dataset);
  expect(panel.present.reduce((sum, each) => sum + each, 0)).toBe(rowCount);
  return (await panelTable(panel)) as unknown as Table;
}

function expectRight(table: Table, call: Call): void {
  const right = expected.get(call.cut === "slabs" ? finite : program)!;
  if (call.toDataset) expect(sortedCells(table)).toEqual(sortedCells(right));
  else expect(differenceOf(table, right)).toBe(null);
}

/** Rows as text, in the order of time and symbol. */
function sortedCells(table: Table): string[] {
  const names = table.schema.names.map(String).slice(2).sort();
  const [time, symbol] = table.schema.names.map((name) => [...table.getChild(name)!]);
  const columns = names.map((name) => [...table.getChild(name)!]);
  const cell = (value: unknown) => (value === null || Number.isNaN(value) ? "null" : String(value));
  return time!
    .map((each, row) => [Number(each), symbol![row], ...columns.map((column) => cell(column[row]))].join(" "))
    .sort();
}

const filesBelow = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

const MUTATIONS = ["delete", "truncate", "empty", "flip", "swap", "older"] as const;

/** Does one of them to a file of the run; false where there is nothing of the kind. */
function mutate(seeded: Seeded, place: string, older: string): string {
  const files = filesBelow(place).filter((file) => statSync(file).size > 0);
  const file = files[seeded.below(files.length)]!;
  const kind = MUTATIONS[seeded.below(MUTATIONS.length)]!;
  const { size } = statSync(file);
  if (kind === "delete") rmSync(file);
  else if (kind === "truncate") truncateSync(file, seeded.below(size));
  else if (kind === "empty") truncateSync(file, 0);
  else if (kind === "flip") {
    const bytes = readFileSync(file);
    bytes[seeded.below(size)]! ^= 1 << seeded.below(8);
    writeFileSync(file, bytes);
  } else if (kind === "swap") {
    const other = files[seeded.below(files.length)]!;
    const aside = `${file}.aside`;
    renameSync(file, aside);
    if (other !== file) renameSync(other, file);
    renameSync(aside, other);
  } else {
    // The same file of a run over other bars: the names of runs are in those of folders and parts.
    const key = (path: string) => basename(path).replace(/-[0-9a-f]{16}(?=\.)/, "");
    const found = filesBelow(older).find((each) => key(each) === key(file));
    if (found !== undefined) cpSync(found, file);
  }
  return `${kind} ${file.slice(place.length)}`;
}

test("what a broken run left is changed before it is taken up", { timeout: 600_000 }, async () => {
  const seeded = new Seeded();
  const ends = { right: 0, refused: 0, controls: 0, changed: 0 };
  for (let trial = 0; trial < trials(6, 80); trial++) {
    const place = mkdtempSync(join(folder, "run-"));
    const older = mkdtempSync(join(folder, "older-"));
    const call: Call = {
      place,
      cut: seeded.below(3) === 0 ? "slabs" : "stages",
      toDataset: seeded.below(2) === 0,
    };
    const failAfter = call.cut === "slabs" ? 1 + seeded.below(2) : 8 + seeded.below(22);
    await runHere({ ...call, failAfter }).catch(() => {});
    await runHere({ ...call, place: older, data: otherBars, failAfter }).catch(() => {});
    const isControl = trial % 6 === 0;
    const left = filesBelow(place).length;
    const done = isControl || left === 0 ? "nothing" : mutate(seeded, place, older);
    if (done !== "nothing") ends.changed++;
    const trialText = `seed ${seeded.seed}, trial ${trial}: ${done}, ${JSON.stringify({ ...call, failAfter })}`;
    try {
      const table = await runHere(call);
      try {
        expectRight(table, call);
      } catch (error) {
        throw new Error(`${trialText}: other content`, { cause: error });
      }
      ends.right++;
      if (isControl) ends.controls++;
    } catch (error) {
      if (!(error instanceof FactorloomError) || isControl) throw new Error(trialText, { cause: error });
      ends.refused++;
    }
    rmSync(place, { recursive: true });
    rmSync(older, { recursive: true });
  }
  expect(ends.controls).toBe(Math.ceil(trials(6, 80) / 6));
  expect(ends.changed).toBeGreaterThan(trials(6, 80) / 3);
  expect(ends.right, "refusing everything is no answer").toBeGreaterThan(trials(6, 80) / 2);
});

test("of two clients that claim one dataset folder one gets it", { timeout: 120_000 }, async () => {
  for (let trial = 0; trial < 50; trial++) {
    const path = join(mkdtempSync(join(folder, "race-")), "dataset");
    if (trial % 2 === 1) {
      // Who had it is gone.
      mkdirSync(path);
      writeFileSync(join(path, "_owner.json"), JSON.stringify({ host: "gone", pid: 1, token: "t" }));
      utimesSync(join(path, "_owner.json"), 0, 0);
    }
    const open = (run: string) => DatasetFolder.open(path, { run, token: `token ${run}`, isNew: false });
    const answers = await Promise.allSettled([open("a"), open("b")]);
    const won = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    const lost = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason.code] : []));
    expect([won.length, ...lost], `trial ${trial}`).toEqual([1, "E625"]);
    await won[0]!.release();
  }
});

test("a worker that sees other bytes, another folder, or other parts beside its own is refused", {
  timeout: 120_000,
}, async () => {
  for (const cut of ["stages", "slabs"] as const) {
    const place = mkdtempSync(join(folder, "other-"));
    const data = join(place, "bars.parquet");
    cpSync(bars, data);
    const call: Call = { place, cut, toDataset: true, data };
    let tasks = 0;
    const exchange = () => {
      if (++tasks !== 2) return;
      // A file that is written over while DuckDB reads it may end the process.
      cpSync(otherBars, `${data}.next`);
      renameSync(`${data}.next`, data);
    };
    await expect(runHere({ ...call, onTask: exchange })).rejects.toMatchObject({ code: "E623" });
    cpSync(bars, data);
    tasks = 0;
    const dataset = join(place, "dataset");
    const elsewhere = () => {
      if (++tasks !== 2) return;
      renameSync(dataset, `${dataset}.client`);
      mkdirSync(dataset);
    };
    rmSync(dataset, { recursive: true, force: true });
    await expect(runHere({ ...call, onTask: elsewhere })).rejects.toMatchObject({ code: "E614" });
    rmSync(dataset, { recursive: true, force: true });
    const beside = () => writeFileSync(join(dataset, "part-000009-0000-other.parquet"), "");
    await expect(runHere({ ...call, onTask: beside })).rejects.toMatchObject({ code: "E626" });
  }
});

test("a broken run into a folder is repeated, also of bars that the client brings; other code uses nothing of it", {
  timeout: 120_000,
}, async () => {
  for (const isBrought of [false, true]) {
    const place = mkdtempSync(join(folder, "again-"));
    const call: Call = { place, cut: "stages", toDataset: true, isBrought };
    await expect(runHere({ ...call, failAfter: 12 })).rejects.toThrow("broken off");
    expect(readdirSync(join(place, "dataset"))).not.toContain("_complete.json");
    expectRight(await runHere(call), call);
  }
  const place = mkdtempSync(join(folder, "code-"));
  const call: Call = { place, cut: "stages", toDataset: false };
  await expect(runHere({ ...call, failAfter: 12 })).rejects.toThrow("broken off");
  const [first] = readdirSync(join(place, "store"));
  await expect(runHere({ ...call, failAfter: 12, code: "other" })).rejects.toThrow("broken off");
  expect(readdirSync(join(place, "store")).length).toBe(2);
  expect(readdirSync(join(place, "store"))).toContain(first);
});
