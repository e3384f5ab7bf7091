import { createHash, randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import { FactorloomError } from "../../errors.ts";
import type { WantedFactors } from "../../evaluation/wanted_factors.ts";
import { moduleDigest } from "../../operator/operator_digest.ts";
import type { Bridge, ClusterProgress, ClusterReport } from "../bridge/bridge.ts";
import type { ClusterHang } from "../bridge/cluster_hang.ts";
import { type ClusterCall, type PreparedJob, prepareJob } from "../cut/cluster_job.ts";
import { buildTaskGraph, type GraphOptions } from "../cut/task_graph.ts";
import { RunFolder } from "../exchange/run_folder.ts";
import { TileStore } from "../exchange/tile_store.ts";
import { digestInputs, inputFile, WHOLE_BYTES_MAX } from "../executor/input_digest.ts";
import { packJob } from "../protocol/job_bytes.ts";
import type { ClusterJob, ClusterTask, OutputCounts, RunIdentity, TaskGraph } from "../protocol/protocol.ts";
import { blockCount, type Rows, rowsOfBlock, rowsOfSlab, slabCount } from "../protocol/tiles.ts";
import { DatasetFolder, type WrittenPart } from "../results/dataset_folder.ts";
import { partStem } from "../results/dataset_part.ts";
import { ResultReader } from "../results/result_reader.ts";
import { bringPanel } from "./panel_tiles.ts";

/** The part of a cluster that runs use: each has a bridge while it is under way. */
export interface RunHost {
  acquire(signal: AbortSignal | undefined): Promise<Bridge>;
  /** Returns a bridge; a lost one is not used again. */
  release(bridge: Bridge, isLost: boolean): Promise<void>;
}

export interface ClusterRunOptions
  extends Pick<GraphOptions, "taskTimeoutSeconds" | "resources" | "workers"> {
  readonly signal?: AbortSignal | undefined;
  /** Records what every task did, and when. */
  readonly trace?: boolean | undefined;
  readonly onTasks?: ((progress: ClusterProgress) => void) | undefined;
  readonly onHang?: ((hang: ClusterHang) => void) | undefined;
}

/** Errors after which a run starts again: a tile was deleted, the bridge or the scheduler was lost. */
const RECOVERABLE = new Set(["E610", "E611", "E612"]);
/** Errors after which the bridge is useless; for E604, a worker has been awaited already. */
const LOST = new Set(["E604", "E611", "E612"]);
const ATTEMPTS_MAX = 3;
/** How long an aborted run waits for the scheduler to cancel its tasks. */
const CANCEL_MS_MAX = 1_000;
/** Results that are requested before they are used. */
const RESULTS_AHEAD = 4;

/** A program under way on a cluster. */
export class ClusterRun {
  readonly wanted: WantedFactors;
  readonly job: ClusterJob;
  /** Sums over the results that workers wrote. */
  readonly counts: { rowCount: number; nulls: number[]; nonFinite: number[] };
  /** How often the run started again. */
  restarts = 0;
  /** Operators that hung, or still do. */
  readonly hangs: ClusterHang[] = [];
  readonly #host: RunHost;
  readonly #request: ClusterCall;
  readonly #prepared: PreparedJob;
  readonly #folder: RunFolder | null;
  readonly #dataset: DatasetFolder | null;
  readonly #parts: WrittenPart[] = [];
  readonly #id: string;
  readonly #options: ClusterRunOptions;
  #isDone = false;
  /** What a callback of the caller has thrown. */
  #thrown: { readonly error: unknown } | null = null;
  /** Results that were taken. */
  #taken = 0;
  #report: ClusterReport | null = null;

  /** @throws as `prepareJob`, `digestInputs` and `DatasetFolder.open`; ResourceError E609 if the store cannot be written. */
  static async open(
    host: RunHost,
    request: Omit<ClusterCall, "folder"> & {
      readonly store: string | null;
      /** Digest of the executors' code. */
      readonly code: string;
    },
    options: ClusterRunOptions,
  ): Promise<ClusterRun> {
    const { store, code, ...rest } = request;
    const draft = await prepareJob({ ...rest, folder: store });
    const inputs = await digestInputs(draft.job.source, options.signal);
    const modules = modulesOf(draft.job);
    const id = await runId(draft.job, { inputs, modules, code });
    const token = randomUUID();
    // The client may bring other values than before: files of earlier runs are not used.
    const isBrought = request.path === null;
    const identity = { token, seal: isBrought ? token.replaceAll("-", "") : id, inputs, modules };
    const folder = store === null ? null : await RunFolder.open(store, id, token);
    let dataset: DatasetFolder | null = null;
    try {
      const job = { ...draft.job, folder: folder?.path ?? null, identity };
      // Results that an earlier client read are gone, so the run starts from zero.
      const isTaken = request.dataset === null && folder && new TileStore(job, folder.path).isCollected(0);
      if (isTaken || isBrought) await folder?.clear();
      if (request.dataset !== null)
        dataset = await DatasetFolder.open(request.dataset, { run: id, token, isNew: isBrought });
      const held = { folder, dataset };
      return new ClusterRun(host, { ...rest, folder: job.folder }, { ...draft, job }, held, id, options);
    } catch (error) {
      await folder?.release(false);
      throw error;
    }
  }

  private constructor(
    host: RunHost,
    request: ClusterCall,
    prepared: PreparedJob,
    { folder, dataset }: { readonly folder: RunFolder | null; readonly dataset: DatasetFolder | null },
    id: string,
    options: ClusterRunOptions,
  ) {
    this.#host = host;
    this.#request = request;
    this.#prepared = prepared;
    this.#folder = folder;
    this.#dataset = dataset;
    this.#id = id;
    this.#options = options;
    this.job = prepared.job;
    this.wanted = prepared.call.wanted;
    const none = () => this.job.factors.map(() => 0);
    this.counts = { rowCount: 0, nulls: none(), nonFinite: none() };
  }

  /**
   * Starts the run and yields its results in order of rows, or none if workers write them. Cancels the run when left.
   *
   * @throws the error of a task; ResourceError E607 to E613, E626; the signal's reason when aborted.
   */
  async *blocks(): AsyncGenerator<FactorBlock, void, void> {
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          yield* this.#attempt();
          await this.#dataset?.complete(this.#parts, this.#options.signal);
          this.#isDone = true;
          return;
        } catch (error) {
          await this.#recover(error, attempt);
        }
      }
    } finally {
      await this.close();
    }
  }

  /** What every worker did; null until the run is done. */
  get report(): ClusterReport | null {
    return this.#report;
  }

  /** Releases the store. The tiles of an unfinished run stay for the next run of the same. */
  async close(): Promise<void> {
    await this.#folder?.release(this.#isDone);
    await this.#dataset?.release();
  }

  /** Returns if another attempt is to follow a failed one, else throws its error. */
  async #recover(error: unknown, attempt: number): Promise<void> {
    if (!(error instanceof FactorloomError)) throw error;
    const isRecoverable = RECOVERABLE.has(error.code) || (error.code === "E608" && this.#isHeldByWorkers);
    if (!isRecoverable || attempt === ATTEMPTS_MAX || this.#options.signal?.aborted) throw error;
    this.restarts++;
    if (error.code === "E610") await this.#folder?.clear();
  }

  /** True if the cluster's only copy of the panel are values on workers, which are lost with them. */
  get #isHeldByWorkers(): boolean {
    return this.job.source.path === null && this.job.exchange === "memory";
  }

  async *#attempt(): AsyncGenerator<FactorBlock, void, void> {
    const { signal } = this.#options;
    signal?.throwIfAborted();
    const bridge = await this.#host.acquire(signal);
    let isLost = false;
    const aborted = () => void leave(bridge);
    signal?.addEventListener("abort", aborted, { once: true });
    try {
      yield* this.#onBridge(bridge);
      this.#throwOfCallback();
    } catch (error) {
      isLost = error instanceof FactorloomError && LOST.has(error.code);
      signal?.throwIfAborted();
      this.#throwOfCallback();
      throw error;
    } finally {
      signal?.removeEventListener("abort", aborted);
      await this.#host.release(bridge, isLost);
    }
  }

  async *#onBridge(bridge: Bridge): AsyncGenerator<FactorBlock, void, void> {
    const { signal, onTasks, onHang, trace = false } = this.#options;
    const { digest, bytes } = packJob(this.job);
    const name = await bridge.claimName(`factorloom_${this.#id.slice(0, 8)}`);
    try {
      await bridge.addJob(digest, bytes);
      bridge.onProgress = this.#callback(bridge, onTasks);
      bridge.onHang = this.#callback(bridge, (hang: ClusterHang) => {
        this.hangs.push(hang);
        onHang?.(hang);
      });
      if (this.job.source.path === null)
        await bringPanel(this.#request.source, this.job, name, bridge, signal);
      const graph = this.#graph(name);
      // An earlier abort had no tasks to cancel.
      signal?.throwIfAborted();
      await bridge.submit(digest, graph);
      // One that came meanwhile may have had none either.
      signal?.throwIfAborted();
      yield* this.#results(bridge, graph);
      // The results are complete even if the cluster is lost now.
      this.#report = await bridge.workers(digest, { trace }).catch(() => null);
    } finally {
      // The bridge may be gone, and its tasks with it.
      await bridge.cancel().catch(() => {});
      await bridge.removeJob(digest).catch(() => {});
      await bridge.releaseName(name).catch(() => {});
    }
  }

  /** A callback of the caller; what it throws ends the run, not the bridge that calls it. */
  #callback<T>(bridge: Bridge, call: ((given: T) => void) | undefined): (given: T) => void {
    return (given) => {
      try {
        call?.(given);
      } catch (error) {
        this.#thrown ??= { error };
        void leave(bridge);
      }
    };
  }

  #throwOfCallback(): void {
    if (this.#thrown !== null) throw this.#thrown.error;
  }

  #graph(prefix: string): TaskGraph {
    const { signal, trace, onTasks, onHang, ...options } = this.#options;
    const costNs = (task: ClusterTask) => taskNs(this.#prepared, task);
    return buildTaskGraph(this.job, { ...options, prefix, costNs, priority: this.#request.options.priority });
  }

  async *#results(bridge: Bridge, { results }: TaskGraph): AsyncGenerator<FactorBlock> {
    const places = resultPlaces(this.job);
    const reader = new ResultReader(this.job);
    const store = this.job.folder === null ? null : new TileStore(this.job, this.job.folder);
    // Results in a store have no buffers.
    const isEmpty = this.job.folder !== null && this.job.dataset === null;
    const asked: Promise<readonly Uint8Array[]>[] = [];
    for (let index = this.#taken, next = index; index < results.length; index++) {
      for (; next < results.length && next < index + RESULTS_AHEAD; next++) {
        const answer = bridge.gather(results[next]!, { isEmpty });
        answer.catch(() => {}); // it is awaited later
        asked.push(answer);
      }
      const buffers = await asked.shift()!;
      const place = places[index]!;
      if (this.job.dataset !== null) this.#count(place, buffers);
      else yield* reader.read(place.slab, place.block, place, buffers);
      this.#taken = index + 1;
      this.#reportProgress(place.end);
      if (place.isLastOfSlab) store?.free(place.slab);
    }
  }

  #reportProgress(end: number): void {
    const [first, last] = this.job.outputRows;
    this.#request.options.onProgress?.(Math.max(first, Math.min(end, last)), last);
  }

  #count({ slab, block }: ResultPlace, buffers: readonly Uint8Array[]): void {
    const { rowCount, nulls, nonFinite, bytes } = JSON.parse(
      Buffer.from(buffers[0]!).toString(),
    ) as OutputCounts;
    if (bytes > 0)
      this.#parts.push({ name: `${partStem(this.job, slab, block)}.parquet`, rows: rowCount, bytes });
    this.counts.rowCount += rowCount;
    for (const [factor, count] of nulls.entries()) this.counts.nulls[factor]! += count;
    for (const [factor, count] of nonFinite.entries()) this.counts.nonFinite[factor]! += count;
  }
}

/** Cancels the tasks, or closes the bridge if the scheduler does not answer. */
async function leave(bridge: Bridge): Promise<void> {
  const cancelled = bridge.cancel().catch(() => {});
  const late = sleep(CANCEL_MS_MAX, "late", { ref: false });
  if ((await Promise.race([cancelled, late])) === "late") await bridge.close();
}

/** The rows that a result covers. */
interface ResultPlace {
  readonly slab: number;
  readonly block: number;
  readonly first: number;
  readonly end: number;
  readonly isLastOfSlab: boolean;
}

/** In the order of `TaskGraph.results`. */
function resultPlaces({ partition, warmUpRows }: ClusterJob): ResultPlace[] {
  return Array.from({ length: slabCount(partition) }, (_, slab): ResultPlace[] => {
    const whole = rowsOfSlab(partition, slab);
    if (warmUpRows !== null) return [{ slab, block: 0, ...whole, isLastOfSlab: true }];
    const count = blockCount(partition, slab);
    return Array.from({ length: count }, (_, block) => {
      return { slab, block, ...rowsOfBlock(partition, slab, block), isLastOfSlab: block === count - 1 };
    });
  }).flat();
}

/** Cost of reading one value of the panel, and of gathering one of a factor. */
const READ_NS = 10;
const GATHER_NS = 5;

function taskNs({ job, stageNs }: PreparedJob, task: ClusterTask): number {
  if (task.kind === "probe") return 0;
  const { partition, source, factors, stages, warmUpRows } = job;
  const { first, end } = rowsOfTask(job, task);
  const rowCount = end - first;
  const readNs = READ_NS * (source.fields.length + source.groups.length);
  const gatherNs = GATHER_NS * factors.length;
  if (task.kind === "read") return readNs * rowCount * partition.laneCount;
  if (task.kind === "output") return gatherNs * rowCount * partition.laneCount;
  if (task.kind === "slab") {
    const runNs = (stageNs[0]! + readNs) * (rowCount + (warmUpRows ?? 0));
    return (runNs + gatherNs * rowCount) * partition.laneCount;
  }
  const lanes = stages[task.stage]!.kind === "lanes" ? partition.shardLanes : partition.laneCount;
  return stageNs[task.stage]! * rowCount * lanes;
}

function rowsOfTask({ partition, stages }: ClusterJob, task: Exclude<ClusterTask, { kind: "probe" }>): Rows {
  if ("block" in task) return rowsOfBlock(partition, task.slab, task.block);
  const isOfRows = task.kind === "stage" && stages[task.stage]!.kind === "rows";
  return isOfRows ? rowsOfBlock(partition, task.slab, task.part) : rowsOfSlab(partition, task.slab);
}

/** Names a run by its job, its inputs and its code: equal for equal jobs over the same files. */
async function runId(
  job: ClusterJob,
  { inputs, modules, code }: Pick<RunIdentity, "inputs" | "modules"> & { readonly code: string },
): Promise<string> {
  const hash = createHash("sha256")
    .update(packJob({ ...job, folder: null }).bytes)
    .update(JSON.stringify([inputs, modules, code]));
  // The digest of a large file covers only samples, so its time of change is included.
  for (const { path, files } of inputs) {
    for (const { name, bytes } of files) {
      if (bytes > WHOLE_BYTES_MAX) hash.update(`${(await stat(inputFile(path, name))).mtimeMs} `);
    }
  }
  return hash.digest("hex").slice(0, 16);
}

function modulesOf({ operators }: ClusterJob): RunIdentity["modules"] {
  return Object.fromEntries(
    operators.flatMap(({ module }) => (module === null ? [] : [[module, moduleDigest(module)]])),
  );
}
