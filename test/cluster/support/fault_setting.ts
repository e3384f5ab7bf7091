import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Table } from "apache-arrow";
import { expect } from "vitest";
import { syntheticPanel } from "../../../src/bench/synthetic_panel.ts";
import type { Bridge } from "../../../src/cluster/bridge/bridge.ts";
import { Cluster, openClusterPanel } from "../../../src/cluster/client/cluster.ts";
import type { ClusterRun } from "../../../src/cluster/client/cluster_run.ts";
import type { ClusterEvaluateOptions, ClusterOptions } from "../../../src/cluster/client/options.ts";
import { CLAIM_FILE } from "../../../src/cluster/results/folder_claim.ts";
import { compile, type Program } from "../../../src/compile.ts";
import type { FactorBlock } from "../../../src/data/factors/factor_batches.ts";
import { factorTableOfBlocks } from "../../../src/data/factors/factor_table.ts";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import { writeTable } from "../../../src/data/write/write_table.ts";
import { Engine } from "../../../src/engine.ts";
import { sharedColumn } from "../../../src/evaluation/shared_columns.ts";
import { isRunning, PATIENCE_SECONDS, until } from "../../support/until.ts";
import { differenceOf } from "./difference.ts";
import { openFakeRun } from "./fake_run.ts";
import { Gate, gated, gateVariables } from "./gate.ts";
import { panelTable } from "./panel_table.ts";
import { ProcessCluster, type ProcessClusterOptions } from "./processes/process_cluster.ts";
import { type ProcessEntry, processes } from "./processes/process_group.ts";
import { schedulerCounts } from "./scheduler_counts.ts";

/** Evaluated over all rows, and in slabs; both wait at the gate, rows of the first are counted from -1000. */
const SOURCE =
  "smooth = gated(ema(rank(close), 10), row - 1000)\nfast = gated(rank(ts_mean(volume, 5)), row)";

export const gatedProgram = () => compile(SOURCE, { operators: [gated], fields: ["close", "volume", "row"] });

/** Four slabs. */
const SHAPE = { lanes: 40, rows: 240, nullShare: 0.02 };
export const CUT = { slabRows: 60, trace: true };
/** In the last slab, and in the first one, of which no result has been taken. */
export const LATE = 185;

/** A run under way. */
export interface StartedRun {
  readonly run: ClusterRun;
  /** Blocks that it has given. */
  readonly given: FactorBlock[];
  /** Its table, or why there is none. */
  readonly table: Promise<Table>;
  /** The folder that workers write. */
  readonly dataset: string | null;
}

export interface BeginOptions extends ClusterEvaluateOptions {
  /** What happens when it is ready, and not yet sent. */
  readonly between?: (run: ClusterRun) => unknown;
  /** Workers write into this folder. */
  readonly dataset?: string | null;
  /** The client brings the bars, in a file that workers see or do not. */
  readonly brings?: "seen" | "copied";
}

type SettingParts = Pick<FaultSetting, "folder" | "dask" | "workers" | "gate" | "path" | "program"> & {
  readonly expected: Table;
};

/** A cluster of its own, a program whose tasks wait at a gate, and what the engine gives for it. */
export class FaultSetting implements AsyncDisposable {
  readonly folder: string;
  readonly dask: ProcessCluster;
  /** As it starts. */
  readonly workers: number;
  readonly gate: Gate;
  readonly path: string;
  readonly program: Program;
  readonly #expected: Table;
  #fakes: Promise<Bridge> | null = null;
  #client: Promise<Cluster> | null = null;

  static async start(
    options: Partial<ProcessClusterOptions> = {},
    program: Program = gatedProgram(),
  ): Promise<FaultSetting> {
    const folder = mkdtempSync(join(tmpdir(), "factorloom-faults-"));
    try {
      const gate = new Gate(join(folder, "gate"));
      const path = join(folder, "bars.parquet");
      await writeBars(path);
      const config = { ...options.config, ...gateVariables(gate) };
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

  async connect(options: Partial<ClusterOptions> = {}): Promise<Cluster> {
    return await Cluster.connect({
      scheduler: this.dask.address,
      timeoutSeconds: PATIENCE_SECONDS,
      ...options,
    });
  }

  /** A client that is connected when it is first asked for, and shared from then on. */
  client(): Promise<Cluster> {
    this.#client ??= this.connect();
    return this.#client;
  }

  /** A bridge with fake executors, which is opened when it is first asked for, and shared from then on. */
  fakes(): Promise<Bridge> {
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
    { between, dataset = null, brings, ...options }: BeginOptions = {},
  ): Promise<StartedRun> {
    const panel = await openClusterPanel(this.path);
    const input = brings === undefined ? panel : { ...panel, path: null };
    const run = await cluster.openRun(this.program, input, { ...CUT, ...options }, dataset);
    if (brings === "copied") rmSync(join(dirname(run.job.source.path), CLAIM_FILE));
    await between?.(run);
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
    return { run, given, table, dataset };
  }

  /** Starts a run with the gate closed; gives an executor that waits there. */
  async beginHeld(
    cluster: Cluster,
    options: BeginOptions = {},
    close: () => void = () => this.gate.close(LATE),
  ): Promise<StartedRun & { executor: number }> {
    close();
    const started = await this.begin(cluster, options);
    const executors = await Promise.race([this.gate.waiting(1), started.table]);
    if (!Array.isArray(executors)) throw new Error("the run did not wait at the gate");
    return { ...started, executor: executors[0] as number };
  }

  /** Waits for a run, whose table, or dataset, must have the bits of the engine. */
  async expectRight({ table, dataset, run }: StartedRun): Promise<void> {
    const found = await table;
    const names = run.job.factors;
    const expected = this.#expected.select(
      [...this.#expected.schema.names.slice(0, 2), ...names].map(String),
    );
    if (dataset === null) return expect(differenceOf(found, expected as Table)).toBe(null);
    const left = readdirSync(dataset).filter((name) => !/^\.?part-/.test(name));
    expect(left.sort()).toEqual(["_complete.json", "_factorloom.json"]);
    expect(readdirSync(dataset).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    const path = join(dataset, "../expected.parquet");
    await writeTable(expected as Table, path);
    const [panel, right] = [await readPanel(dataset), await readPanel(path)];
    expect(panel.present).toEqual(right.present);
    for (const name of names) expect(panel.fields.get(name), name).toEqual(right.fields.get(name));
  }

  /** The worker process that an executor belongs to. */
  async workerOf(executor: number): Promise<ProcessEntry> {
    const all = new Map((await processes()).map((each) => [each.pid, each]));
    const worker = all.get(all.get(executor)!.parent)!;
    expect(await this.dask.workerPids(), "below this cluster").toContain(worker.pid);
    return worker;
  }

  /** Processes of executors, of whichever workers. */
  async executors(): Promise<number[]> {
    const all = (await processes()).filter(({ command }) => command.includes("executor_process"));
    return all.map(({ pid }) => pid).filter((pid) => this.#isOurs(pid));
  }

  #isOurs(pid: number): boolean {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").includes(this.gate.folder) && isRunning(pid);
    } catch {
      return false;
    }
  }

  counts() {
    return schedulerCounts(this.dask);
  }

  /** The scheduler has forgotten all tasks, and no executor is left. */
  async isFree(): Promise<boolean> {
    return (await this.counts()).tasks === 0 && (await this.executors()).length === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async close(): Promise<void> {
    this.gate.open();
    await (await this.#client?.catch(() => null))?.close();
    await (await this.#fakes)?.close();
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

/** Tasks of a run that found their files. */
export function foundDone({ run }: StartedRun): number {
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
    return (await engine.evaluate(program, await readPanel(path))).table;
  } finally {
    await engine.close();
  }
}
