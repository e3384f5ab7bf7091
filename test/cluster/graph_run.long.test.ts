import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { type ClusterCall, prepareJob } from "../../src/cluster/cut/cluster_job.ts";
import { buildTaskGraph } from "../../src/cluster/cut/task_graph.ts";
import { compile, type Program } from "../../src/compile.ts";
import { openPanelSource, type PanelSourceOptions } from "../../src/data/source/open_panel_source.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { Engine } from "../../src/engine.ts";
import type { EvaluateOptions } from "../../src/evaluation/options.ts";
import { DEFAULT_COSTS } from "../../src/plan/cost_model.ts";
import { fileFolder } from "../support/file_folder.ts";
import { differenceOf } from "./support/difference.ts";
import { runGraph } from "./support/run_graph.ts";

/** The graph of a run, executed in this process task by task: stages, tiles and pieces against the engine. */

const examples = join(import.meta.dirname, "../../examples");
const bars = join(examples, "data/sp100_daily.csv.gz");
const sourceOptions: PanelSourceOptions = { groups: join(examples, "data/sp100_sectors.csv") };

const panel = readPanel(bars, sourceOptions);
let engine: Engine;
const folder = fileFolder();
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(async () => {
  await engine.close();
});

type Choice = Partial<Pick<ClusterCall, "cut" | "partition" | "path">> & {
  readonly exchange: "store" | "memory";
  readonly options?: EvaluateOptions;
};

async function onGraph(program: Program, { exchange, options = {}, ...choice }: Choice) {
  const source = await openPanelSource(bars, sourceOptions);
  const store = mkdtempSync(join(folder, "tiles-"));
  try {
    const prepared = await prepareJob({
      program,
      registry: builtInRegistry.with(program.operators),
      source,
      path: bars,
      sourceOptions: { ...sourceOptions },
      options,
      costs: DEFAULT_COSTS,
      threadCount: 2,
      folder: exchange === "store" ? store : null,
      dataset: null,
      cut: "stages",
      partition: {},
      ...choice,
    });
    const graph = buildTaskGraph(prepared.job, { prefix: "run", costNs: () => 1e6 });
    return { prepared, graph, table: await runGraph(prepared, graph, "run", source, options) };
  } finally {
    await source.close();
  }
}

/** What the engine gives for each program and its options, which several cuts are compared with. */
const evaluated = new Map<Program, Map<string, ReturnType<Engine["evaluate"]>>>();

async function byEngine(program: Program, options: EvaluateOptions = {}) {
  const known = evaluated.get(program) ?? new Map<string, ReturnType<Engine["evaluate"]>>();
  evaluated.set(program, known);
  const key = JSON.stringify(options);
  const table = known.get(key) ?? engine.evaluate(program, await panel, options);
  known.set(key, table);
  return await table;
}

async function expectSame(program: Program, choice: Choice) {
  const { table, prepared, graph } = await onGraph(program, choice);
  expect(differenceOf(table, await byEngine(program, choice.options))).toBe(null);
  return { prepared, graph };
}

const alpha101File = join(examples, "alpha101.factors");
const alpha101 = compile(readFileSync(alpha101File, "utf8"), { file: alpha101File });

describe("alpha101 on real bars", () => {
  const partition = { shardLanes: 40, slabRows: 500, blockRows: 130 };

  test("cut into stages, tiles as files, three slabs, a last shard that is filled up", async () => {
    const { prepared, graph } = await expectSame(alpha101, { exchange: "store", partition });
    const { stages, partition: cut } = prepared.job;
    expect(stages.map(({ kind }) => kind)).toEqual(["lanes", "rows", "lanes", "rows", "lanes"]);
    expect(cut.shardCount).toBe(3);
    expect(cut.slabRows.length).toBe(4);
    expect(graph.tasks.filter(({ work }) => work.kind === "barrier").length).toBeGreaterThan(0);
  });

  test("cut into stages, tiles as values", async () => {
    const { graph } = await expectSame(alpha101, { exchange: "memory", partition });
    expect(graph.tasks.filter(({ work }) => work.kind === "merge").length).toBeGreaterThan(0);
  });

  test("brought by the client", async () => {
    await expectSame(alpha101, { exchange: "memory", partition, path: null });
    await expectSame(alpha101, { exchange: "store", partition, path: null });
  });

  test("as independent slabs", async () => {
    const { prepared } = await expectSame(alpha101, {
      exchange: "store",
      cut: "slabs",
      partition: { slabRows: 400 },
    });
    expect(prepared.job.warmUpRows).toBeGreaterThan(200);
  });

  test("cut as the planner chooses", async () => {
    await expectSame(alpha101, { exchange: "store", cut: "auto" });
  });
});

describe("options of the call, on real bars", () => {
  const partition = { shardLanes: 30, slabRows: 300, blockRows: 100 };

  test("rows between from and to, the bars read by the workers", async () => {
    const options = { from: "2016-08-15", to: "2017-05-10", select: ["alpha001", "alpha019", "alpha032"] };
    for (const exchange of ["store", "memory"] as const) {
      for (const cut of ["stages", "slabs"] as const) {
        const { prepared } = await expectSame(alpha101, { exchange, cut, partition, options });
        expect(prepared.job.outputRows[0]).toBeGreaterThan(0);
      }
    }
  });

  test("factors that are wanted at some times only", async () => {
    const text = [
      "param k = 0.5",
      'param session = "open"',
      "always = rank(ts_mean(close * k, 20))",
      'when session == "close" { closing = zscore(delta(close, 5)) }',
      'when session == "close" && k > 1 { never = ema(close, 3) }',
    ].join("\n");
    const paramsByTime = join(folder, "params.csv");
    const days = (await panel).time.values.values().filter((_, row) => row % 3 > 0);
    const lines = days.map((day, i) => `${dayText(day)},${i % 5 ? 0.25 : ""},${i % 2 ? "close" : ""}`);
    writeFileSync(paramsByTime, `${["date,k,session", ...lines].join("\n")}\n`);
    const { prepared } = await expectSame(compile(text), {
      exchange: "store",
      partition,
      options: { paramsByTime },
    });
    const [always, closing, never] = prepared.job.factors;
    expect(always!.unwantedRows).toEqual([]);
    expect(closing!.unwantedRows.length).toBeGreaterThan(2);
    expect(never!.origin).toBe(null);
  });

  test("infinities that are kept", async () => {
    const program = compile("ratio = close / (delta(close, 1) * 0)\nbelow = rank(ratio)");
    for (const keepInfinite of [true, false]) {
      const choice: Choice = { exchange: "memory", partition, options: { keepInfinite } };
      await expectSame(program, choice);
      const { table } = await onGraph(program, choice);
      const ratios = [...(table.getChild("ratio") as Iterable<unknown>)];
      expect(ratios.includes(Number.POSITIVE_INFINITY)).toBe(keepInfinite);
    }
  });
});

function dayText(day: bigint): string {
  return new Date(Number(day) * 86_400_000).toISOString().slice(0, 10);
}
