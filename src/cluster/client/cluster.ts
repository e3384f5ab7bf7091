import { resolve } from "node:path";
import type { RecordBatch, Table } from "apache-arrow";
import { builtInRegistry } from "../../../operators/index.ts";
import { PROGRAM, type Program } from "../../compile.ts";
import { batchesOfBlocks, FactorBatches, outputColumns } from "../../data/factors/factor_batches.ts";
import { factorTableOfBlocks } from "../../data/factors/factor_table.ts";
import { PANEL, type PanelSource, panelSource } from "../../data/panel/panel_source.ts";
import { openPanelSource } from "../../data/source/open_panel_source.ts";
import type { PanelSourceOptions } from "../../data/source/source_options.ts";
import { unlessAborted } from "../../evaluation/awaiting.ts";
import { countsOf, type StreamReport } from "../../evaluation/evaluate_table.ts";
import { chooseCosts } from "../../evaluation/stored_costs.ts";
import { LIMIT_MS_DEFAULT } from "../../execution/watch/hang_watch.ts";
import type { Panel } from "../../panel.ts";
import { type ArgumentKind, checkArgument, hasAll } from "../../text/argument_kinds.ts";
import { Bridge, type ClusterFacts } from "../bridge/bridge.ts";
import { hangText } from "../bridge/cluster_hang.ts";
import { findPython } from "../bridge/python.ts";
import { installExecutors } from "../deploy/bundle.ts";
import { clusterClosed, startTooSlow } from "../protocol/errors.ts";
import type { ClusterHang, ClusterJob } from "../protocol/protocol.ts";
import { ClusterRun, type RunHost } from "./cluster_run.ts";
import {
  type ClusterEvaluateOptions,
  type ClusterOptions,
  checkedClusterCall,
  checkedClusterOptions,
} from "./options.ts";

/** A panel for a cluster. */
export interface ClusterPanel {
  /** The panel as the client reads it. */
  readonly source: PanelSource;
  /** The same file or folder for the workers; null: the client reads the values and brings them. */
  readonly path: string | null;
  /** How to read it. */
  readonly options: PanelSourceOptions;
}

/** What a cluster's `evaluate` gives. */
export interface ClusterEvaluated {
  readonly table: Table;
  readonly report: Pick<StreamReport, "nullCounts" | "nonFiniteCounts">;
}

const CLUSTER_PANEL: ArgumentKind = {
  what: "a panel",
  fits: (given) => hasAll(given, ["source", "path", "options"]) || PANEL.fits(given),
  remedy: "a panel is what await openClusterPanel(path) or await readPanel(path) gives",
};

const TIMEOUT_SECONDS = 30;
/** Of a timer of Node. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * A Dask cluster that evaluates programs. Its workers run executors, which the client brings: hosts need Dask and Node.
 * Results have the same bits as those of `Engine`. Anyone who can reach the scheduler can run any code on the cluster.
 *
 * @example
 * await using cluster = await Cluster.connect({ scheduler: "tcp://127.0.0.1:8786" });
 * const panel = await openClusterPanel("/shared/bars.parquet");
 * for await (const batch of cluster.stream(program, panel)) await writer.write(batch);
 */
export class Cluster {
  readonly #options: ClusterOptions;
  /** Bridges that no run uses. */
  readonly #idle: Bridge[];
  readonly #inUse = new Set<Bridge>();
  readonly #opening = new Set<Promise<unknown>>();
  /** Aborted once the cluster is closed. */
  readonly #closing = new AbortController();
  #last: OpenBridge;

  /**
   * @throws UsageError E527 for an unknown option, E528 for `hang`, for a wrong address, for certificates that
   *   cannot be used, for a value that an option cannot have; ResourceError E602 without Python, E603 and E604 if there
   *   is no scheduler or no worker, E605 for versions that do not match, E603 if the start takes too long for another
   *   reason.
   */
  static async connect(options: ClusterOptions): Promise<Cluster> {
    const checked = checkedClusterOptions(options);
    return new Cluster(checked, await openBridge(checked));
  }

  private constructor(options: ClusterOptions, opened: OpenBridge) {
    this.#options = options;
    this.#last = opened;
    this.#idle = [opened.bridge];
  }

  get scheduler(): string {
    return this.#options.scheduler;
  }

  /** The scheduler's dashboard, and its workers at the time when the client connected. */
  get info(): ClusterFacts {
    return this.#last.info;
  }

  /**
   * Evaluates the program block by block; the batches are those of `Engine.stream`.
   *
   * @throws as `Engine.stream`; ResourceError E442, E604, E605, E607, E610, E611, E404 once the cluster is closed.
   */
  async *stream(
    program: Program,
    panel: ClusterPanel | Panel,
    options: ClusterEvaluateOptions = {},
  ): AsyncGenerator<RecordBatch, void, void> {
    const input = asClusterPanel(panel);
    const run = await this.openRun(program, input, options);
    const { keepInfinite = false } = options;
    try {
      yield* batchesOfBlocks(
        new FactorBatches(outputColumns(input.source, run.wanted), { keepInfinite }),
        run.blocks(),
      );
    } finally {
      await run.close();
    }
  }

  /** The table that `Engine.evaluate` gives, and the counts of its report. @throws as `stream`. */
  async evaluate(
    program: Program,
    panel: ClusterPanel | Panel,
    options: ClusterEvaluateOptions = {},
  ): Promise<ClusterEvaluated> {
    const input = asClusterPanel(panel);
    const run = await this.openRun(program, input, options);
    const { keepInfinite = false } = options;
    try {
      const columns = outputColumns(input.source, run.wanted);
      const { table, ...counts } = await factorTableOfBlocks(columns, run.blocks(), { keepInfinite });
      return { table, report: countsOf(counts) };
    } finally {
      await run.close();
    }
  }

  /** As `stream`, with blocks of columns for batches. With a `dataset`, workers write Parquet files into that folder instead. @internal */
  async openRun(
    program: Program,
    panel: ClusterPanel,
    options: ClusterEvaluateOptions = {},
    dataset: string | null = null,
  ): Promise<ClusterRun> {
    checkArgument("a cluster's evaluate", program, PROGRAM);
    const checked = checkedClusterCall(options);
    const { slabRows, trace, onTasks, signal, ...evaluate } = checked;
    const { resources, workers, taskTimeoutSeconds, hang } = this.#options;
    const request = {
      program,
      registry: builtInRegistry.with(program.operators),
      source: panel.source,
      path: panel.path,
      sourceOptions: panel.options,
      options: evaluate,
      costs: (await chooseCosts()).model,
      workers: this.#last.info.workers,
      code: this.#last.code,
      dataset,
      slabRows,
      hang: hangOf(hang),
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
      taskTimeoutSeconds,
      onHang: (hang || undefined)?.onHang ?? warn,
    });
  }

  /** Leaves the cluster; what is under way on it rejects with E404. */
  async close(): Promise<void> {
    this.#closing.abort(clusterClosed());
    await Promise.allSettled(this.#opening);
    await Promise.all([...this.#idle.splice(0), ...this.#inUse].map((bridge) => bridge.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** A bridge for one run: cancelling affects only the tasks of its bridge. */
  async #acquire(signal: AbortSignal | undefined): Promise<Bridge> {
    this.#closing.signal.throwIfAborted();
    const idle = this.#idle.pop();
    if (idle === undefined) return await this.#open(signal);
    this.#inUse.add(idle);
    return idle;
  }

  /** What has ended one bridge may have ended the idle ones: the next run would try each of them in vain. */
  async #release(bridge: Bridge, isLost: boolean): Promise<void> {
    this.#inUse.delete(bridge);
    if (isLost || bridge.hasEnded)
      await Promise.all([bridge, ...this.#idle.splice(0)].map((each) => each.close()));
    else this.#idle.push(bridge);
  }

  async #open(signal: AbortSignal | undefined): Promise<Bridge> {
    const signals = [this.#closing.signal, ...(signal === undefined ? [] : [signal])];
    const opening = openBridge(this.#options, AbortSignal.any(signals)).then((opened) => {
      this.#last = opened;
      this.#inUse.add(opened.bridge);
      return opened.bridge;
    });
    this.#opening.add(opening);
    return await opening.finally(() => this.#opening.delete(opening));
  }
}

/** Opens a file or folder that the workers see under the same path. @throws as `openPanelSource`. */
export async function openClusterPanel(
  path: string,
  options: PanelSourceOptions = {},
): Promise<ClusterPanel> {
  return sharedPanel(await openPanelSource(path, options), path, options);
}

/** A source that workers read themselves. They have other working folders, so their paths are absolute. */
export function sharedPanel(source: PanelSource, path: string, options: PanelSourceOptions): ClusterPanel {
  const { groups, series, renames } = options;
  const given = Object.entries({ groups, series, renames }).filter(([, table]) => table !== undefined);
  const tables = Object.fromEntries(given.map(([name, table]) => [name, resolve(table!)]));
  return { source, path: resolve(path), options: { ...options, ...tables } };
}

function asClusterPanel(panel: ClusterPanel | Panel): ClusterPanel {
  checkArgument("a cluster's evaluate", panel, CLUSTER_PANEL);
  return "source" in panel ? panel : { source: panelSource(panel), path: null, options: {} };
}

function hangOf(hang: ClusterOptions["hang"]): ClusterJob["hang"] {
  if (hang === false) return null;
  const { limitMs = LIMIT_MS_DEFAULT, replaces = false } = hang ?? {};
  return { limitMs, replaces };
}

function warn(hang: ClusterHang): void {
  process.emitWarning(hangText(hang), { type: "HangWarning" });
}

/** Python has this long after the timeout to report the reason itself. */
const LATE_MS = 20_000;

/** A bridge that is ready to run tasks. */
interface OpenBridge {
  readonly bridge: Bridge;
  readonly info: ClusterFacts;
  /** Digest of the executors' code. */
  readonly code: string;
}

/** @param runSignal aborts only the start */
async function openBridge(options: ClusterOptions, runSignal?: AbortSignal): Promise<OpenBridge> {
  const { scheduler, node = null, signal, timeoutSeconds = TIMEOUT_SECONDS } = options;
  const { tls, workers, resources } = options;
  const endMs = performance.now() + 1000 * timeoutSeconds;
  const secondsLeft = () => Math.max(0.1, (endMs - performance.now()) / 1000);
  let phase = "the start of Python";
  const late = new AbortController();
  const abortAfter = (ms: number) =>
    setTimeout(() => late.abort(startTooSlow(phase, timeoutSeconds)), Math.min(TIMER_MS_MAX, ms));
  let timer = abortAfter(1000 * timeoutSeconds);
  const ended = AbortSignal.any([late.signal, ...[signal, runSignal].filter((each) => each !== undefined)]);
  let bridge: Bridge | null = null;
  try {
    const python = await findPython(options.python, ended);
    bridge = await Bridge.start({ python, signal, startSignal: ended });
    clearTimeout(timer);
    timer = abortAfter(1000 * secondsLeft() + LATE_MS);
    phase = "connecting to the scheduler";
    const request = { timeoutSeconds, seconds: secondsLeft(), tls, workers, resources };
    const info = await unlessAborted(bridge.connect(scheduler, request), ended);
    phase = "bringing the executors to the workers";
    const code = await unlessAborted(installExecutors(bridge, node), ended);
    return { bridge, info, code };
  } catch (error) {
    await bridge?.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
