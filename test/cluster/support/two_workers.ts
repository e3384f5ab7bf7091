import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { Cluster, type ClusterPanel } from "../../../src/cluster/client/cluster.ts";
import type { ClusterEvaluateOptions } from "../../../src/cluster/client/options.ts";
import { compile, type Program } from "../../../src/compile.ts";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import { Engine } from "../../../src/engine.ts";
import { PATIENCE_SECONDS } from "../../support/until.ts";
import { differenceOf } from "./difference.ts";
import { ProcessCluster } from "./processes/process_cluster.ts";

const examples = join(import.meta.dirname, "../../../examples");
/** The bundled bars and the groups of their symbols. */
export const BARS = join(examples, "data/sp100_daily.csv.gz");
export const TABLES = { groups: join(examples, "data/sp100_sectors.csv") };

export function published(name: string): Program {
  const file = join(examples, `${name}.factors`);
  return compile(readFileSync(file, "utf8"), { file });
}

/** A real scheduler and two workers on loopback, beside an engine: results must have the bits of the engine. */
export class TwoWorkers implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "factorloom-cluster-"));
  readonly #open = new AsyncDisposableStack();
  /** Tiles are values of Dask's tasks. */
  inMemory!: Cluster;
  /** Tiles are files in `store`. */
  inStore!: Cluster;
  #engine!: Engine;

  static async start(): Promise<TwoWorkers> {
    const workers = new TwoWorkers();
    try {
      await workers.#start();
    } catch (error) {
      await workers.#open.disposeAsync();
      throw error;
    }
    return workers;
  }

  get store(): string {
    return join(this.folder, "store");
  }

  async #start(): Promise<void> {
    const open = this.#open;
    open.defer(() => rmSync(this.folder, { recursive: true, force: true }));
    const dask = await ProcessCluster.start({ workers: 2 });
    open.defer(async () => await dask.close());
    this.#engine = open.use(await Engine.start({ threads: 2 }));
    const options = { scheduler: dask.address, timeoutSeconds: PATIENCE_SECONDS };
    this.inMemory = await Cluster.connect(options);
    open.defer(async () => await this.inMemory.close());
    this.inStore = await Cluster.connect({ ...options, store: this.store, createStore: true });
    open.defer(async () => await this.inStore.close());
  }

  /** Evaluates on the cluster and by the engine, and compares all bits. */
  async expectSame(
    cluster: Cluster,
    program: Program,
    panel: ClusterPanel,
    options: ClusterEvaluateOptions = {},
  ) {
    const { cut, shardLanes, slabRows, ...ofEngine } = options;
    const bars = await readPanel(panel.path ?? BARS, panel.options);
    const local = await this.#engine.evaluate(program, bars, ofEngine);
    const table = await cluster.evaluate(program, panel, options);
    expect(differenceOf(table, local)).toBe(null);
    return table;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#open.disposeAsync();
  }
}
