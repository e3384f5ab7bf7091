import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import {
  Cluster,
  type ClusterEvaluateOptions,
  type ClusterPanel,
  openClusterPanel,
} from "../../src/cluster/client/cluster.ts";
import { type LocalCluster, startLocalCluster } from "../../src/cluster/deploy/local_cluster.ts";
import { compile, type Program } from "../../src/compile.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { writeTable } from "../../src/data/write/write_table.ts";
import { Engine } from "../../src/engine.ts";
import { hasDask } from "../support/needs.ts";
import { PATIENCE_SECONDS } from "../support/until.ts";
import { differenceOf } from "./support/difference.ts";
import { panelTable } from "./support/panel_table.ts";

/** A real scheduler and two workers on loopback: results must have the bits of the engine. */
const examples = join(import.meta.dirname, "../../examples");
const bars = join(examples, "data/sp100_daily.csv.gz");

const published = (name: string): Program => {
  const file = join(examples, `${name}.factors`);
  return compile(readFileSync(file, "utf8"), { file });
};

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

  test("gtja191 on a synthetic year of 1,000 symbols that the workers read themselves", async () => {
    const path = join(folder, "year.parquet");
    await writeTable(panelTable(syntheticPanel({ lanes: 1000, rows: 252, nullShare: 0.01 })), path);
    const program = published("gtja191");
    const panel = await openClusterPanel(path);
    await expectSame(inMemory, program, panel);
    await expectSame(inStore, program, panel);
    await panel.source.close();
  });
});
