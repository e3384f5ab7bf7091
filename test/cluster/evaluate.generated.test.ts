import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  Cluster,
  type ClusterEvaluateOptions,
  type ClusterOptions,
  type ClusterPanel,
  openClusterPanel,
} from "../../src/cluster/client/cluster.ts";
import { type LocalCluster, startLocalCluster } from "../../src/cluster/deploy/local_cluster.ts";
import { compile, type Program } from "../../src/compile.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { writeTable } from "../../src/data/write/write_table.ts";
import { Engine } from "../../src/engine.ts";
import { hasDask } from "../support/needs.ts";
import { trials } from "../support/trials.ts";
import { PATIENCE_SECONDS } from "../support/until.ts";
import { differenceOf } from "./support/difference.ts";
import { panelTable } from "./support/panel_table.ts";

/** A real scheduler and two workers on loopback: results must have the bits of the engine. */
const examples = join(import.meta.dirname, "../../examples");
const bars = join(examples, "data/sp100_daily.csv.gz");
const tables = { groups: join(examples, "data/sp100_sectors.csv") };

const published = (name: string): Program => {
  const file = join(examples, `${name}.factors`);
  return compile(readFileSync(file, "utf8"), { file });
};

test("options of a connection that are not known are refused", async () => {
  const wrong = { scheduler: "tcp://127.0.0.1:1", storage: "/tiles" } as ClusterOptions;
  await expect(Cluster.connect(wrong)).rejects.toThrow("E527 unknown option storage of Cluster.connect");
});

describe.runIf(await hasDask())("on two workers", () => {
  let dask: LocalCluster;
  let engine: Engine;
  let folder: string;
  let inMemory: Cluster;
  let inStore: Cluster;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "factorloom-cluster-"));
    dask = await startLocalCluster({ workers: 2 });
    engine = await Engine.start({ threads: 2 });
    inMemory = await Cluster.connect({ scheduler: dask.address, timeoutSeconds: PATIENCE_SECONDS });
    inStore = await Cluster.connect({
      scheduler: dask.address,
      timeoutSeconds: PATIENCE_SECONDS,
      store: join(folder, "store"),
      createStore: true,
    });
  });
  afterAll(async () => {
    await inMemory?.close();
    await inStore?.close();
    await engine?.close();
    await dask?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function expectSame(
    cluster: Cluster,
    program: Program,
    panel: ClusterPanel,
    options: ClusterEvaluateOptions = {},
  ) {
    const { cut, shardLanes, slabRows, ...ofEngine } = options;
    const local = await engine.evaluate(
      program,
      await readPanel(panel.path ?? bars, panel.options),
      ofEngine,
    );
    const table = await cluster.evaluate(program, panel, options);
    expect(differenceOf(table, local)).toBe(null);
    return table;
  }

  test("options that are not known and other arguments are refused", async () => {
    const panel = await openClusterPanel(bars, tables);
    const wrong = { slabRow: 700 } as ClusterEvaluateOptions;
    await expect(inMemory.evaluate(published("alpha101"), panel, wrong)).rejects.toThrow(
      "E527 unknown option slabRow of a cluster's evaluate\n  did you mean slabRows?",
    );
    const program = Promise.resolve(published("alpha101")) as never;
    await expect(inMemory.evaluate(program, panel)).rejects.toThrow(
      "E528 a cluster's evaluate takes a program, got a promise\n  await it",
    );
    await panel.source.close();
  });

  const tiles = trials(["files"] as const, ["files", "values"] as const);
  test.for(tiles)("alpha101 on real bars that the client brings, tiles as %s", async (kind) => {
    const panel = { ...(await openClusterPanel(bars, tables)), path: null };
    const cluster = kind === "files" ? inStore : inMemory;
    await expectSame(cluster, published("alpha101"), panel, { shardLanes: 32, slabRows: 700 });
    await panel.source.close();
    expect(readdirSync(join(folder, "store")), "no tiles stay").toEqual([]);
  });

  test("independent slabs, a range of the output, a selection, params", async () => {
    const path = join(folder, "bars.parquet");
    await writeTable(panelTable(await readPanel(bars)), path);
    const panel = await openClusterPanel(path, tables);
    const options = {
      cut: "slabs",
      from: "2015-01-01",
      to: "2016-06-30",
      select: ["alpha001", "alpha026"],
    } as const;
    const table = await expectSame(inStore, published("alpha101"), panel, options);
    expect(table.schema.names.length).toBe(4);
    const source2 = "param k = 2\nwhen k > 3 { a = ts_mean(close, 5) * k }\nb = rank(ema(close, 10)) + k";
    const program = compile(source2);
    await expectSame(inStore, program, panel, { params: { k: 5 } });
    await expectSame(inMemory, program, panel, { params: { k: 1 } });
    await panel.source.close();
  });
});
