import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { syntheticPanel } from "../../../src/bench/synthetic_panel.ts";
import { Cluster, openClusterPanel } from "../../../src/cluster/client/cluster.ts";
import type { ClusterRun } from "../../../src/cluster/client/cluster_run.ts";
import type { ClusterEvaluateOptions, ClusterOptions } from "../../../src/cluster/client/options.ts";
import { compile, type Program } from "../../../src/compile.ts";
import type { FactorBlock } from "../../../src/data/factors/factor_batches.ts";
import { factorTableOfBlocks } from "../../../src/data/factors/factor_table.ts";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import { writeTable } from "../../../src/data/write/write_table.ts";
import { Engine } from "../../../src/engine.ts";
import { sharedColumn } from "../../../src/evaluation/shared_columns.ts";
import { PATIENCE_SECONDS, until } from "../../support/until.ts";
import { differenceOf } from "./difference.ts";
import { type FakeRun, openFakeRun } from "./fake_run.ts";
import { GATE_VARIABLE, Gate, gated } from "./gate.ts";
import { panelTable } from "./panel_table.ts";
import { ProcessCluster, type ProcessClusterOptions } from "./processes/process_cluster.ts";
import { type ProcessEntry, processes } from "./processes/process_group.ts";
import { schedulerCounts } from "./scheduler_counts.ts";

type Table = Awaited<ReturnType<Engine["evaluate"]>>;

/** Stages of rows, of lanes with state, and of rows, which waits at the gate. */
const SOURCE = "smooth = gated(ema(rank(close), 10), row)\nfast = rank(ts_mean(volume, 5)) - smooth";

export const gatedProgram = () => compile(SOURCE, { operators: [gated], fields: ["close", "volume", "row"] });

/** Four slabs of three blocks; four shards. */
const SHAPE = { lanes: 40, rows: 240, nullShare: 0.02 };
export const PARTITION = { shardLanes: 10, slabRows: 60, blockRows: 20, trace: true };
/** In the last slab, and in the first one, of which no result has been taken. */
export const LATE = 185;
export const EARLY = 30;

/** A run under way. */
export interface StartedRun {
  readonly run: ClusterRun;
  /** Blocks that it has given. */
  readonly given: FactorBlock[];
  /** Its table, or why there is none. */
  readonly table: Promise<Table>;
}

export interface BeginOptions extends ClusterEvaluateOptions {
  /** What happens when it is ready, and not yet sent. */
  readonly between?: () => void;
  /** Workers write into this folder. */
  readonly dataset?: string | null;
  /** The client brings the bars. */
  readonly isBrought?: boolean;
}

type SettingParts = Pick<FaultSetting, "folder" | "dask" | "workers" | "gate" | "path" | "program"> & {
  readonly expected: Table;
};

/** A cluster of its own, a program whose tasks wait at a gate, and what the engine gives for it. */
export class FaultSetting {
  readonly folder: string;
  readonly dask: ProcessCluster;
  /** As it starts. */
  readonly workers: number;
  readonly gate: Gate;
  readonly path: string;
  readonly program: Program;
  readonly #expected: Table;
  #fakes: Promise<FakeRun> | null = null;
  readonly #clients = new Map<"store" | "memory", Promise<Cluster>>();

  static async start(
    options: Partial<ProcessClusterOptions> = {},
    program: Program = gatedProgram(),
  ): Promise<FaultSetting> {
    const folder = mkdtempSync(join(tmpdir(), "factorloom-faults-"));
    try {
      const gate = new Gate(join(folder, "gate"));
      const path = join(folder, "bars.parquet");
      await writeBars(path);
      const config = { ...options.config, [GATE_VARIABLE]: gate.folder };
      const workers = options.workers ?? 2;
      const dask = await ProcessCluster.start({ ...options, workers, config });
      const expected = await expectedTable(path, program);
      return new FaultSetting({ folder, dask, workers, gate, path, program, expected });
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  private constructor({ expected, ...parts }: SettingParts) {
    this.folder = parts.folder;
    this.dask = parts.dask;
    this.workers = parts.workers;
    this.gate = parts.gate;
    this.path = parts.path;
    this.program = parts.program;
    this.#expected = expected;
  }

  get store(): string {
    return join(this.folder, "store");
  }

  async connect(mode: "store" | "memory", options: Partial<ClusterOptions> = {}): Promise<Cluster> {
    const store = mode === "store" ? this.store : undefined;
    return await Cluster.connect({
      scheduler: this.dask.address,
      store,
      createStore: true,
      timeoutSeconds: PATIENCE_SECONDS,
      ...options,
    });
  }

  /** A client that is connected when it is first asked for, and shared from then on. */
  async client(mode: "store" | "memory"): Promise<Cluster> {
    if (!this.#clients.has(mode)) this.#clients.set(mode, this.connect(mode));
    return await this.#clients.get(mode)!;
  }

  /** A bridge with fake executors, which is opened when it is first asked for, and shared from then on. */
  fakes(): Promise<FakeRun> {
    this.#fakes ??= openFakeRun(this.dask.address);
    return this.#fakes;
  }

  /** Starts workers for those whose nanny is gone; waits until all are there. */
  async mend(lost = 0): Promise<void> {
    for (let count = 0; count < lost; count++) await this.dask.addWorker();
    await until(async () => (await this.counts()).workers === this.workers);
  }

  /** Starts a run; its results are taken as they come. */
  async begin(
    cluster: Cluster,
    { between, dataset = null, isBrought = false, ...options }: BeginOptions = {},
  ): Promise<StartedRun> {
    const panel = await openClusterPanel(this.path);
    const input = isBrought ? { ...panel, path: null } : panel;
    const run = await cluster.openRun(this.program, input, { ...PARTITION, ...options }, dataset);
    between?.();
    const given: FactorBlock[] = [];
    async function* blocks() {
      for await (const block of run.blocks()) {
        given.push(block);
        yield block;
      }
    }
    const { time, symbols } = panel.source;
    const columns = { time, symbols, factors: run.wanted.factors.map(({ name }) => name) };
    const table = factorTableOfBlocks(columns, blocks())
      .then((result) => result.table)
      .finally(() => panel.source.close());
    table.catch(() => {}); // seen where it is awaited
    return { run, given, table };
  }

  /** Starts a run with the gate closed from a row on; gives an executor that waits there. */
  async beginHeld(
    cluster: Cluster,
    options: BeginOptions = {},
    row = LATE,
  ): Promise<StartedRun & { executor: number }> {
    this.gate.close(row);
    const started = await this.begin(cluster, options);
    const executors = await Promise.race([this.gate.waiting(1), started.table]);
    if (!Array.isArray(executors)) throw new Error("the run did not wait at the gate");
    return { ...started, executor: executors[0] as number };
  }

  /** Waits for a run, whose table must have the bits of the engine. */
  async expectRight({ table }: StartedRun): Promise<void> {
    expect(differenceOf(await table, this.#expected)).toBe(null);
  }

  /** The worker process that an executor belongs to. */
  async workerOf(executor: number): Promise<ProcessEntry> {
    const all = new Map((await processes()).map((each) => [each.pid, each]));
    const worker = all.get(all.get(executor)!.parent)!;
    expect(await this.dask.workerPids(), "below this cluster").toContain(worker.pid);
    return worker;
  }

  /** Processes of executors. */
  async executors(): Promise<number[]> {
    const workers = new Set(await this.dask.workerPids());
    return (await processes())
      .filter(({ parent, command }) => workers.has(parent) && command.includes("executor_process"))
      .map(({ pid }) => pid);
  }

  counts() {
    return schedulerCounts(this.dask);
  }

  /** The scheduler has forgotten all tasks, and no executor is left. */
  async isFree(): Promise<boolean> {
    return (await this.counts()).tasks === 0 && (await this.executors()).length === 0;
  }

  async close(): Promise<void> {
    this.gate.open();
    for (const client of this.#clients.values()) await (await client).close();
    await (await this.#fakes)?.bridge.close();
    await this.dask.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Sums over all workers of a run that is done. */
export function countersOf({ run }: StartedRun) {
  const counters = run.report!.workers.map(({ job }) => job.counters);
  const sum = (name: keyof (typeof counters)[number]) =>
    counters.reduce((total, each) => total + each[name], 0);
  return { executorRestarts: sum("executorRestarts"), deadlineKills: sum("deadlineKills") };
}

/** Tasks of a run whose tiles were there already. */
export function foundTiles({ run }: StartedRun): number {
  const traces = run.report!.workers.flatMap(({ job }) => job.trace);
  return traces.filter(({ wasDone }) => wasDone).length;
}

/** Made-up bars, with the number of each row as a field. */
async function writeBars(path: string): Promise<void> {
  const panel = syntheticPanel(SHAPE);
  const row = sharedColumn(SHAPE.rows * SHAPE.lanes);
  for (let cell = 0; cell < row.length; cell++) row[cell] = Math.floor(cell / SHAPE.lanes);
  await writeTable(await panelTable({ ...panel, fields: new Map([...panel.fields, ["row", row]]) }), path);
}

async function expectedTable(path: string, program: Program): Promise<Table> {
  const engine = await Engine.start({ threads: 1 });
  try {
    return await engine.evaluate(program, await readPanel(path));
  } finally {
    await engine.close();
  }
}
