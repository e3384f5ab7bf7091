import { accessSync, constants } from "node:fs";
import type { RecordBatch, Table } from "apache-arrow";
import { builtInRegistry } from "../../../operators/index.ts";
import { PROGRAM, type Program } from "../../compile.ts";
import { batchesOfBlocks, type OutputColumns } from "../../data/factors/factor_batches.ts";
import { factorTableOfBlocks } from "../../data/factors/factor_table.ts";
import { type PanelSource, panelSource } from "../../data/panel/panel_source.ts";
import { openPanelSource, type PanelSourceOptions } from "../../data/source/open_panel_source.ts";
import { EVALUATE_OPTIONS, type EvaluateOptions } from "../../evaluation/options.ts";
import { chooseCosts } from "../../evaluation/stored_costs.ts";
import { checkSelect } from "../../evaluation/wanted_factors.ts";
import {
  checkHang,
  type HangOptions,
  LIMIT_MS_DEFAULT,
  TIMES_ESTIMATE,
} from "../../execution/watch/hang_watch.ts";
import type { Panel } from "../../panel.ts";
import { checkArgument } from "../../text/argument_kinds.ts";
import { checkOptionNames, type OptionNames } from "../../text/option_names.ts";
import { Bridge, type ClusterFacts, type ClusterProgress } from "../bridge/bridge.ts";
import { type ClusterHang, hangText } from "../bridge/cluster_hang.ts";
import type { TlsFiles } from "../bridge/connection.ts";
import { findPython } from "../bridge/python.ts";
import { unlessAborted } from "../bridge/unless_aborted.ts";
import type { CutChoice } from "../cut/cluster_job.ts";
import type { PartitionOptions } from "../cut/partition.ts";
import { installExecutors } from "../deploy/install_executors.ts";
import { openStore } from "../exchange/open_store.ts";
import { startTooSlow, tlsUnusable, wrongAddress } from "../protocol/errors.ts";
import type { HangWatchRecord } from "../protocol/protocol.ts";
import { ClusterRun, type RunHost } from "./cluster_run.ts";

export interface ClusterOptions {
  /** Address of the Dask scheduler, e.g. `tcp://host:8786`. */
  readonly scheduler: string;
  /**
   * A folder on storage that the client and all workers see under the same path, for the files that tasks pass to each
   * other. Without it Dask holds and moves this data.
   */
  readonly store?: string | undefined;
  /** True: creates the store and its parent folders if they are missing. Default: a missing store is an error. */
  readonly createStore?: boolean | undefined;
  /** Certificates for a scheduler at `tls://`. Default: those of Dask's own settings. */
  readonly tls?: TlsFiles | undefined;
  /** The Python that has Dask's `distributed`; default: `FACTORLOOM_PYTHON`, else the first that has it. */
  readonly python?: string | undefined;
  /** Node 24 or later on the hosts of the workers; default: `FACTORLOOM_NODE` there, else `node` on their path. */
  readonly node?: string | undefined;
  /** Leaves the cluster when aborted, also while connecting. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Seconds for the whole start: until Python runs, the scheduler answers, a worker has joined, and workers have the code
   * of the executors. Also how long a run waits for a worker that can continue it. Default 30.
   */
  readonly timeoutSeconds?: number | undefined;
  /** Resources that workers must have for each task (`restrictedFactors`), by Dask's names. */
  readonly resources?: Readonly<Record<string, number>> | undefined;
  /** Hosts, or addresses of workers, that may run tasks (`restrictedFactors`). Default: all. */
  readonly workers?: readonly string[] | undefined;
  /** An executor that takes longer for a task is killed. Default: 50 times the estimate, at least 120 s. */
  readonly taskTimeoutSeconds?: number | undefined;
  /** What to do about an operator of a user that does not return. False: nothing is watched. */
  readonly hang?: ClusterHangOptions | false | undefined;
}

/** As `hang` of `Engine.start`, for operators of users. */
export interface ClusterHangOptions extends Pick<HangOptions, "limitMs"> {
  /**
   * Ends the executor of a reported operator; another one runs its task again, and fails it with E636 if that hangs as
   * well. Default false.
   */
  readonly replaces?: boolean | undefined;
  /** Takes each report. Default: a warning of the process. */
  readonly onHang?: ((hang: ClusterHang) => void) | undefined;
}

export interface ClusterEvaluateOptions extends EvaluateOptions {
  /**
   * `stages`: the plan is split where it looks across lanes, and data moves between the stages. `slabs`: each task computes
   * everything for some rows, and also reads the earlier rows that it needs; for factors of finite lookback. Default
   * `auto`: what costs less by estimate.
   */
  readonly cut?: CutChoice;
  /** Lanes of a shard. Default, as of `slabRows` and `blockRows`: what makes tasks of 50 ms to 1 s. */
  readonly shardLanes?: number;
  /** Rows of a slab. */
  readonly slabRows?: number;
  /**
   * `resources` and `workers` of the cluster hold only for tasks that compute these factors or what they are made of;
   * other tasks run anywhere. Tasks that compute several factors are restricted if one of them is here. Default: all.
   */
  readonly restrictedFactors?: readonly string[];
  /** Records what every task did, and when, for `ClusterRun.report`. */
  readonly trace?: boolean;
  /**
   * Tasks of calls of higher priority go first, also before those of other programs on the cluster; of equal ones those
   * of the call that came first. Whole numbers from -1000 to 1000; default 0, which is Dask's own.
   */
  readonly priority?: number;
  /** Called twice a second while tasks run. */
  readonly onTasks?: (progress: ClusterProgress) => void;
}

const CLUSTER_OPTIONS: OptionNames<ClusterOptions> = {
  scheduler: true,
  store: true,
  createStore: true,
  tls: true,
  python: true,
  node: true,
  signal: true,
  timeoutSeconds: true,
  resources: true,
  workers: true,
  taskTimeoutSeconds: true,
  hang: true,
};

const CLUSTER_EVALUATE_OPTIONS: OptionNames<ClusterEvaluateOptions> = {
  ...EVALUATE_OPTIONS,
  cut: true,
  shardLanes: true,
  slabRows: true,
  restrictedFactors: true,
  trace: true,
  onTasks: true,
};

/** A panel for a cluster. */
export interface ClusterPanel {
  /** The panel as the client reads it. */
  readonly source: PanelSource;
  /** The same file or folder for the workers; null: the client reads the values and brings them. */
  readonly path: string | null;
  /** How to read it. */
  readonly options: PanelSourceOptions;
}

const TIMEOUT_SECONDS = 30;

/**
 * A Dask cluster that evaluates programs. Its workers run executors, which the client brings: hosts need Dask and Node.
 * Results have the same bits as those of `Engine`. Anyone who can reach the scheduler can run any code on the cluster.
 *
 * @example
 * await using cluster = await Cluster.connect({ scheduler: "tcp://127.0.0.1:8786", store: "/shared/tiles" });
 * const panel = await openClusterPanel("/shared/bars.parquet");
 * for await (const batch of cluster.stream(program, panel)) await writer.write(batch);
 */
export class Cluster {
  readonly #options: ClusterOptions;
  /** Bridges that no run uses. */
  readonly #idle: Bridge[];
  readonly #inUse = new Set<Bridge>();
  #info: ClusterFacts;
  /** Digest of the executors' code. */
  #code: string;

  /**
   * @throws UsageError E527 for an unknown option, E572 for `hang`, E601 for a wrong address, E630 for a missing store, E632 for certificates
   *   that cannot be used; ResourceError E602 without Python, E603 and E604 if there is no scheduler or no worker, E605 if a
   *   worker has no Node, E606 for versions that do not match, E609 for a store that cannot be created, E631 if no worker
   *   takes the code of the executors, E633 if the start takes too long for another reason.
   */
  static async connect(options: ClusterOptions): Promise<Cluster> {
    checkOptionNames("Cluster.connect", options, CLUSTER_OPTIONS);
    if (!/^(tcp|tls|ws|wss|ucx):\/\/\S+$/.test(options.scheduler)) throw wrongAddress(options.scheduler);
    checkHang(options.hang);
    if (options.tls !== undefined) checkTls(options.scheduler, options.tls);
    if (options.store !== undefined) await openStore(options.store, options.createStore === true);
    const { bridge, info, code } = await openBridge(options);
    return new Cluster(options, bridge, info, code);
  }

  private constructor(options: ClusterOptions, bridge: Bridge, info: ClusterFacts, code: string) {
    this.#options = options;
    this.#idle = [bridge];
    this.#info = info;
    this.#code = code;
  }

  get scheduler(): string {
    return this.#options.scheduler;
  }

  /** The scheduler's dashboard, and its workers at the time when the client connected. */
  get info(): ClusterFacts {
    return this.#info;
  }

  /**
   * Evaluates the program block by block; the batches are those of `Engine.stream`.
   *
   * @throws as `Engine.stream`; UsageError E506 for an unknown factor in `restrictedFactors`; ResourceError E607 to E613.
   */
  async *stream(
    program: Program,
    panel: ClusterPanel | Panel,
    options: ClusterEvaluateOptions = {},
  ): AsyncGenerator<RecordBatch, void, void> {
    const input = asClusterPanel(panel);
    const run = await this.openRun(program, input, options);
    const { keepInfinite = false } = options;
    yield* batchesOfBlocks(outputColumns(input, run), run.blocks(), { keepInfinite });
  }

  /** The table that `Engine.evaluate` returns. @throws as `stream`. */
  async evaluate(
    program: Program,
    panel: ClusterPanel | Panel,
    options: ClusterEvaluateOptions = {},
  ): Promise<Table> {
    const input = asClusterPanel(panel);
    const run = await this.openRun(program, input, options);
    const { keepInfinite = false } = options;
    return (await factorTableOfBlocks(outputColumns(input, run), run.blocks(), { keepInfinite })).table;
  }

  /** As `stream`, with blocks of columns for batches. With a `dataset`, workers write Parquet files into that folder instead. @internal */
  async openRun(
    program: Program,
    panel: ClusterPanel,
    options: ClusterEvaluateOptions = {},
    dataset: string | null = null,
  ): Promise<ClusterRun> {
    checkArgument("a cluster's evaluate", program, PROGRAM);
    checkOptionNames("a cluster's evaluate", options, CLUSTER_EVALUATE_OPTIONS);
    const { cut = "auto", shardLanes, slabRows, restrictedFactors, trace, onTasks, ...rest } = options;
    checkSelect(program, restrictedFactors);
    const { signal, ...evaluate } = rest;
    const { store = null, resources, workers, taskTimeoutSeconds, hang } = this.#options;
    const partition: PartitionOptions = { shardLanes, slabRows, blockRows: evaluate.blockRows };
    const request = {
      program,
      registry: builtInRegistry.with(program.operators),
      source: panel.source,
      path: panel.path,
      sourceOptions: { ...panel.options },
      options: evaluate,
      costs: (await chooseCosts()).model,
      threadCount: this.#info.workers.reduce((sum, { threads }) => sum + threads, 0),
      workers: this.#info.workers,
      store,
      code: this.#code,
      dataset,
      cut,
      partition,
    };
    const host: RunHost = {
      acquire: (signal) => this.#acquire(signal),
      release: (bridge: Bridge, isLost: boolean) => this.#release(bridge, isLost),
    };
    return await ClusterRun.open(host, request, {
      signal,
      trace,
      onTasks,
      resources,
      workers,
      restrictedFactors,
      taskTimeoutSeconds,
      onHang: (hang || undefined)?.onHang ?? warn,
    });
  }

  /** Leaves the cluster; runs on it end. */
  async close(): Promise<void> {
    await Promise.all([...this.#idle.splice(0), ...this.#inUse].map((bridge) => bridge.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** A bridge for one run: cancelling affects only the tasks of its bridge. */
  async #acquire(signal: AbortSignal | undefined): Promise<Bridge> {
    const idle = this.#idle.pop();
    const bridge = idle ?? (await this.#open(signal));
    this.#inUse.add(bridge);
    return bridge;
  }

  async #release(bridge: Bridge, isLost: boolean): Promise<void> {
    this.#inUse.delete(bridge);
    if (isLost) await bridge.close();
    else this.#idle.push(bridge);
  }

  async #open(signal: AbortSignal | undefined): Promise<Bridge> {
    const { bridge, info, code } = await openBridge(this.#options, signal);
    this.#info = info;
    this.#code = code;
    return bridge;
  }
}

/** Opens a file or folder that the workers see under the same path. @throws as `openPanelSource`. */
export async function openClusterPanel(
  path: string,
  options: PanelSourceOptions = {},
): Promise<ClusterPanel> {
  return { source: await openPanelSource(path, options), path, options };
}

function asClusterPanel(panel: ClusterPanel | Panel): ClusterPanel {
  return "source" in panel ? panel : { source: panelSource(panel), path: null, options: {} };
}

function outputColumns({ source }: ClusterPanel, { wanted }: ClusterRun): OutputColumns {
  return { time: source.time, symbols: source.symbols, factors: wanted.factors.map(({ name }) => name) };
}

function hangWatch(hang: ClusterOptions["hang"]): HangWatchRecord | null {
  if (hang === false) return null;
  const { limitMs = LIMIT_MS_DEFAULT, replaces = false } = hang ?? {};
  return { seconds: limitMs / 1000, timesEstimate: TIMES_ESTIMATE, replaces };
}

function warn(hang: ClusterHang): void {
  process.emitWarning(hangText(hang), { type: "HangWarning" });
}

/** @throws UsageError E632 */
function checkTls(scheduler: string, { ca, cert, key }: TlsFiles): void {
  if (!/^(tls|wss):/.test(scheduler)) throw tlsUnusable(`certificates are given, and ${scheduler} uses none`);
  if ((cert === undefined) !== (key === undefined))
    throw tlsUnusable("a certificate and its key go together");
  for (const path of [ca, cert, key]) {
    try {
      if (path !== undefined) accessSync(path, constants.R_OK);
    } catch (error) {
      throw tlsUnusable(`a certificate cannot be read: ${(error as Error).message}`);
    }
  }
}

/** Python has this long after the timeout to report the reason itself. */
const LATE_MS = 1_000;

/** A bridge that is ready to run tasks. `runSignal` aborts only the start. */
async function openBridge(
  options: ClusterOptions,
  runSignal?: AbortSignal,
): Promise<{ bridge: Bridge; info: ClusterFacts; code: string }> {
  const { scheduler, node = null, signal, timeoutSeconds = TIMEOUT_SECONDS } = options;
  const { tls, workers, resources } = options;
  const endMs = performance.now() + 1000 * timeoutSeconds;
  const secondsLeft = () => Math.max(0.1, (endMs - performance.now()) / 1000);
  let phase = "the start of Python";
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(startTooSlow(phase, timeoutSeconds)),
    1000 * timeoutSeconds + LATE_MS,
  );
  const ended = AbortSignal.any([late.signal, ...[signal, runSignal].filter((each) => each !== undefined)]);
  let bridge: Bridge | null = null;
  try {
    const python = await findPython(options.python, ended);
    bridge = await Bridge.start({ python: python.path, signal, startSignal: ended });
    phase = "connecting to the scheduler";
    const request = { timeoutSeconds, seconds: secondsLeft(), tls, workers, resources };
    const info = await unlessAborted(bridge.connect(scheduler, request), ended);
    phase = "bringing the executors to the workers";
    const code = await unlessAborted(
      installExecutors(bridge, node, secondsLeft(), hangWatch(options.hang)),
      ended,
    );
    return { bridge, info, code };
  } catch (error) {
    await bridge?.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
