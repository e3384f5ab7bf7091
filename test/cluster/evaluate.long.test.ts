import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Table } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { Cluster, type ClusterPanel, openClusterPanel } from "../../src/cluster/client/cluster.ts";
import type { ClusterEvaluateOptions } from "../../src/cluster/client/options.ts";
import { CLAIM_FILE } from "../../src/cluster/results/folder_claim.ts";
import { compile, type Program } from "../../src/compile.ts";
import { factorTableOfBlocks } from "../../src/data/factors/factor_table.ts";
import { panelSource } from "../../src/data/panel/panel_source.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { writeTable } from "../../src/data/write/write_table.ts";
import { Engine } from "../../src/engine.ts";
import type { Panel } from "../../src/panel.ts";
import { fileFolder } from "../support/file_folder.ts";
import { hasDask } from "../support/needs.ts";
import { PATIENCE_SECONDS } from "../support/until.ts";
import { differenceOf } from "./support/difference.ts";
import { panelTable } from "./support/panel_table.ts";
import { ProcessCluster } from "./support/processes/process_cluster.ts";

/** What a cluster gives has the bits of the engine, wherever bars come from, results go to, and however it is cut. */

const examples = join(import.meta.dirname, "../../examples");
const BARS = join(examples, "data/sp100_daily.csv.gz");
const TABLES = { groups: join(examples, "data/sp100_sectors.csv") };
const MIXED = `param k = 2
param session = "open"
a = ts_mean(rank(close), 20) * k
b = ema(close, 30)
c = cum_sum(volume) - k
when session == "close" { d = ts_std_dev(close, 10) }
e = group_neutralize(delta(close, 5), sector)
f = rank(b) * a`;

interface Case {
  readonly program: Program;
  readonly options: ClusterEvaluateOptions;
}

interface Expected {
  readonly table: Table;
  /** The table as a file of bars. */
  readonly panel: Panel;
}

function published(name: string): Program {
  const file = join(examples, `${name}.factors`);
  return compile(readFileSync(file, "utf8"), { file });
}

const folder = fileFolder();
const parquet = join(folder, "bars.parquet");
const cases = new Map<string, Case>();
const expected = new Map<string, Promise<Expected>>();
let engine: Engine;
let bars: Panel;

describe.runIf(await hasDask())("a cluster", () => {
  beforeAll(async () => {
    engine = await Engine.start({ threads: 2 });
    bars = await readPanel(BARS, TABLES);
    await writeTable(await panelTable(bars), parquet);
    const paramsByTime = join(folder, "params.csv");
    const days = Array.from(bars.time.values, (day) => new Date(Number(day) * 86_400_000).toISOString());
    const lines = days.map(
      (day, row) => `${day.slice(0, 10)},${row % 7 || ""},${row % 5 ? "open" : "close"}`,
    );
    writeFileSync(paramsByTime, `date,k,session\n${lines.filter((_, row) => row % 3 < 2).join("\n")}\n`);
    for (const name of ["alpha101", "alpha158", "gtja191"])
      cases.set(name, { program: published(name), options: {} });
    cases.set("mixed", { program: compile(MIXED), options: { paramsByTime } });
  });
  afterAll(() => engine?.close());

  function expectedOf(name: string): Promise<Expected> {
    const make = async () => {
      const { program, options } = cases.get(name)!;
      const { table } = await engine.evaluate(program, bars, options);
      const path = join(folder, `${name}.parquet`);
      await writeTable(table, path);
      return { table, panel: await readPanel(path) };
    };
    if (!expected.has(name)) expected.set(name, make());
    return expected.get(name)!;
  }

  const inputs = {
    Parquet: () => openClusterPanel(parquet, TABLES),
    CSV: async () => ({ ...(await openClusterPanel(BARS, TABLES)), path: null }),
    memory: async () => ({ source: panelSource(bars), path: null, options: {} }),
  };
  type Input = keyof typeof inputs;

  describe.each([
    [2, { Parquet: "table", CSV: "dataset", memory: "table" }],
    [4, { Parquet: "dataset", CSV: "table", memory: "dataset" }],
  ] as const)("of %i workers", (workers, outputs) => {
    let dask: ProcessCluster;
    let cluster: Cluster;
    beforeAll(async () => {
      dask = await ProcessCluster.start({ workers });
      cluster = await Cluster.connect({ scheduler: dask.address, timeoutSeconds: PATIENCE_SECONDS });
    });
    afterAll(async () => {
      await cluster?.close();
      await dask?.close();
    });

    /** Files of panels that workers have copied. */
    const copies = () =>
      (readdirSync(dask.folder, { recursive: true }) as string[]).filter((name) =>
        name.includes("factorloom-panel-"),
      );

    /** Runs a program; the workers do not see the client's folder if they are to copy the panel. */
    async function tableOf(
      { program, options }: Case,
      panel: ClusterPanel,
      isCopied = false,
    ): Promise<Table> {
      const run = await cluster.openRun(program, panel, options);
      const { path } = run.job.source;
      if (isCopied) rmSync(join(dirname(path), CLAIM_FILE));
      let most = 0;
      async function* blocks() {
        for await (const block of run.blocks()) {
          most = Math.max(most, copies().length);
          yield block;
        }
      }
      const { time, symbols } = panel.source;
      const factors = run.wanted.factors.map(({ name }) => name);
      const { table } = await factorTableOfBlocks({ time, symbols, factors }, blocks());
      expect(run.restarts).toBe(0);
      if (isCopied) expect(most).toBeGreaterThan(0);
      else expect(most).toBe(0);
      expect(copies()).toEqual([]);
      if (panel.path === null) expect(readdirSync(dirname(dirname(path)))).not.toContain(dirname(path));
      return table;
    }

    describe.each(["alpha101", "alpha158", "gtja191", "mixed"])("%s", (name) => {
      test.each(Object.keys(inputs) as Input[])("from %s", async (input) => {
        const { table, panel: right } = await expectedOf(name);
        const panel = await inputs[input]();
        const { program, options } = cases.get(name)!;
        try {
          if (outputs[input] === "table")
            return expect(differenceOf(await tableOf({ program, options }, panel), table)).toBe(null);
          const dataset = join(folder, `${name}-${input}-${workers}`);
          const run = await cluster.openRun(program, panel, options, dataset);
          for await (const _ of run.blocks()) throw new Error("rows came back to the client");
          expect(run.restarts).toBe(0);
          const written = await readPanel(dataset);
          expect(written.present).toEqual(right.present);
          for (const [factor, values] of right.fields) {
            const [is, was] = [written.fields.get(factor)!, values].map(
              (each) => new Uint8Array(each.buffer),
            );
            expect(Buffer.compare(is!, was!), factor).toBe(0);
          }
          rmSync(dataset, { recursive: true });
        } finally {
          await panel.source.close();
        }
      });
    });

    test("from workers that do not see the client's folder: they copy the panel", async () => {
      for (const name of ["alpha101", "mixed"]) {
        const table = await tableOf(cases.get(name)!, await inputs.memory(), true);
        expect(differenceOf(table, (await expectedOf(name)).table), name).toBe(null);
      }
      // In several pieces.
      const large = syntheticPanel({ lanes: 500, rows: 2500, nullShare: 0.01 });
      const program = compile("a = rank(close) + ts_mean(volume, 5)\nb = cum_sum(open - high)");
      const panel = { source: panelSource(large), path: null, options: {} };
      const table = await tableOf({ program, options: {} }, panel, true);
      expect(differenceOf(table, (await engine.evaluate(program, large)).table)).toBe(null);
    });

    test("a range of the output, a selection, rows of slabs", async () => {
      const program = published("alpha101");
      const options = { from: "2015-01-01", to: "2016-06-30", select: ["alpha001", "alpha026"] };
      const panel = await inputs.Parquet();
      const table = await tableOf({ program, options: { ...options, slabRows: 50 } }, panel);
      expect(table.schema.names.length).toBe(4);
      expect(differenceOf(table, (await engine.evaluate(program, bars, options)).table)).toBe(null);
      await panel.source.close();
    });
  });

  describe("a call", () => {
    let dask: ProcessCluster;
    let cluster: Cluster;
    beforeAll(async () => {
      dask = await ProcessCluster.start({ workers: 1 });
      cluster = await Cluster.connect({ scheduler: dask.address, timeoutSeconds: PATIENCE_SECONDS });
    });
    afterAll(async () => {
      await cluster?.close();
      await dask?.close();
    });
    const simple = compile("a = rank(ema(close, 10))");

    test("with unknown options or other arguments is refused", async () => {
      const wrong = { slabRow: 700 } as ClusterEvaluateOptions;
      await expect(cluster.evaluate(simple, bars, wrong)).rejects.toThrow(
        "E527 unknown option slabRow of a cluster's evaluate\n  did you mean slabRows?",
      );
      await expect(cluster.evaluate(Promise.resolve(simple) as never, bars)).rejects.toThrow(
        "E528 a cluster's evaluate takes a program, got a promise\n  await it",
      );
    });

    test.each(["onTasks", "onProgress"])("ends with what its %s throws; later ones do not", async (name) => {
      const error = new Error("of the caller");
      const fail = () => {
        throw error;
      };
      const options = { slabRows: 100, [name]: fail };
      await expect(cluster.evaluate(published("alpha101"), bars, options)).rejects.toBe(error);
      expect(
        differenceOf(
          (await cluster.evaluate(simple, bars)).table,
          (await engine.evaluate(simple, bars)).table,
        ),
      ).toBe(null);
    });

    test("whose table cannot be made gives up what it has brought", async () => {
      const program = compile("symbol = rank(close)");
      await expect(cluster.evaluate(program, bars)).rejects.toThrow("E314");
      await expect(cluster.stream(program, bars).next()).rejects.toThrow("E314");
      expect(
        differenceOf(
          (await cluster.evaluate(simple, bars)).table,
          (await engine.evaluate(simple, bars)).table,
        ),
      ).toBe(null);
    });
  });
});
