import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { PanelSourceOptions } from "../../data/source/source_options.ts";
import { FactorloomError } from "../../errors.ts";
import { broughtFields } from "../../evaluation/has_row.ts";
import type { WantedFactors } from "../../evaluation/wanted_factors.ts";
import type { Bridge, ClusterProgress, ClusterReport } from "../bridge/bridge.ts";
import { type ClusterCall, type PreparedJob, prepareJob } from "../cut/cluster_job.ts";
import { type GraphOptions, RunGraph, slabCountOf } from "../cut/task_graph.ts";
import { digestInputs } from "../executor/input_digest.ts";
import { packJob } from "../protocol/job_bytes.ts";
import type { BroughtPanel, ClusterHang, ClusterJob, JobSource, OutputCounts } from "../protocol/protocol.ts";
import { chunkBytes, joinChunks } from "../results/chunk.ts";
import { DatasetFolder, type WrittenPart } from "../results/dataset_folder.ts";
import { partStem } from "../results/dataset_part.ts";
import { removeBroughtPanel, sendBroughtPanel, writeBroughtPanel } from "./brought_panel.ts";
import { modulesOf, runId } from "./run_id.ts";

/** The part of a cluster that runs use: each has a bridge while it is under way. */
export interface RunHost {
  acquire(signal: AbortSignal | undefined): Promise<Bridge>;
  /** Returns a bridge; a lost one is not used again. */
  release(bridge: Bridge, isLost: boolean): Promise<void>;
}

export interface RunRequest extends Omit<ClusterCall, "isDataset"> {
  /** The panel's path for workers; null if the client brings the values. */
  readonly path: string | null;
  readonly sourceOptions: PanelSourceOptions;
  /** The folder of a dataset that workers write; null if results go back to the client. */
  readonly dataset: string | null;
  readonly hang: ClusterJob["hang"];
  /** Digest of the executors' code. */
  readonly code: string;
}

export interface ClusterRunOptions
  extends Pick<GraphOptions, "taskTimeoutSeconds" | "resources" | "workers"> {
  readonly signal?: AbortSignal | undefined;
  /** Records what every task did, and when. */
  readonly trace?: boolean | undefined;
  readonly onTasks?: ((progress: ClusterProgress) => void) | undefined;
  readonly onHang?: ((hang: ClusterHang) => void) | undefined;
}

/** Errors after which a run starts again: files or a panel on workers were lost, the scheduler or the bridge was. */
const RECOVERABLE = new Set(["E610", "E611"]);
/** Errors after which the bridge is useless; for E604, a worker has been awaited already. */
const LOST = new Set(["E604", "E611"]);
const ATTEMPTS_MAX = 3;
/** How long an aborted run waits for the scheduler to cancel its tasks. */
const CANCEL_MS_MAX = 1_000;
/** Results that are requested before they are used. */
const RESULTS_AHEAD = 4;

/** What a run has opened. */
interface OpenedRun {
  readonly prepared: PreparedJob;
  readonly job: ClusterJob;
  readonly brought: BroughtPanel | null;
  readonly dataset: DatasetFolder | null;
}

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
  /** What every worker did; null until the run is done. */
  report: ClusterReport | null = null;
  readonly #host: RunHost;
  readonly #request: RunRequest;
  readonly #options: ClusterRunOptions;
  readonly #opened: OpenedRun;
  readonly #parts: WrittenPart[] = [];
  /** What a callback of the caller has thrown. */
  #thrown: { readonly error: unknown } | null = null;
  /** Results that were taken: parts, or chunks. */
  #taken = 0;

  /** @throws as `prepareJob`, `digestInputs`, `writeBroughtPanel` and `DatasetFolder.open`. */
  static async open(host: RunHost, request: RunRequest, options: ClusterRunOptions): Promise<ClusterRun> {
    const { signal } = options;
    const prepared = await prepareJob({ ...request, isDataset: request.dataset !== null });
    const { call, jobCall, cut } = prepared;
    const columns = { ...call.read, fields: broughtFields(call.read.fields), end: call.range.end };
    const brought = request.path === null ? await writeBroughtPanel(request.source, columns, signal) : null;
    let dataset: DatasetFolder | null = null;
    try {
      const { time, symbols, seriesNames = [] } = request.source;
      const source: JobSource = {
        path: brought?.path ?? request.path!,
        isBrought: brought !== null,
        options: { ...request.sourceOptions },
        fields: columns.fields,
        groups: columns.groups,
        seriesNames,
        time: brought === null ? time : { ...time, values: time.values.subarray(0, call.range.end) },
        symbols,
      };
      const inputs = await digestInputs(source, signal);
      const modules = modulesOf(jobCall);
      const seen = { ...source, path: brought?.digest ?? source.path };
      const run = runId(jobCall, seen, { inputs, modules }, request.code);
      const token = request.dataset === null ? null : randomUUID();
      if (token !== null) dataset = await DatasetFolder.open(request.dataset!, { run, token, cut });
      const job: ClusterJob = {
        ...jobCall,
        identity: { token, run, inputs, modules },
        source,
        cut: dataset?.cut ?? cut,
        hang: request.hang,
        dataset: request.dataset,
      };
      return new ClusterRun(host, request, options, { prepared, job, brought, dataset });
    } catch (error) {
      await dataset?.release();
      await removeBroughtPanel(brought);
      throw error;
    }
  }

  private constructor(host: RunHost, request: RunRequest, options: ClusterRunOptions, opened: OpenedRun) {
    this.#host = host;
    this.#request = request;
    this.#options = options;
    this.#opened = opened;
    this.job = opened.job;
    this.wanted = opened.prepared.call.wanted;
    const none = () => this.job.factors.map(() => 0);
    this.counts = { rowCount: 0, nulls: none(), nonFinite: none() };
  }

  /**
   * Starts the run and yields its results in order of rows, or none if workers write them. Cancels the run when left.
   *
   * @throws the error of a task; ResourceError E607, E626; the signal's reason when aborted.
   */
  async *blocks(): AsyncGenerator<FactorBlock, void, void> {
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          yield* this.#attempt();
          await this.#opened.dataset?.complete(this.#parts, this.#options.signal);
          return;
        } catch (error) {
          const isRecoverable = error instanceof FactorloomError && RECOVERABLE.has(error.code);
          if (!isRecoverable || attempt === ATTEMPTS_MAX || this.#options.signal?.aborted) throw error;
          this.restarts++;
        }
      }
    } finally {
      await this.close();
    }
  }

  /** Gives up the dataset's folder, whose parts stay for the next run of the same. May be called twice. */
  async close(): Promise<void> {
    await removeBroughtPanel(this.#opened.brought);
    await this.#opened.dataset?.release();
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
    const { signal, onTasks, onHang, trace = false, ...where } = this.#options;
    const { brought, dataset, prepared } = this.#opened;
    const { digest, bytes } = packJob(this.job);
    const graph = new RunGraph(this.job, {
      ...where,
      // Runs of one program must not share tasks, because each cancels its own.
      prefix: `factorloom_${this.job.identity.run.slice(0, 8)}_${randomUUID().slice(0, 8)}`,
      rowNs: this.job.cut.shares.map(prepared.rowNs),
      priority: this.#request.options.priority,
    });
    try {
      const isSeen = await bridge.addJob(digest, bytes, brought);
      const { taskCount: total } = graph;
      bridge.onProgress = this.#callback(bridge, (progress: ClusterProgress) => {
        onTasks?.({ ...progress, total });
      });
      bridge.onHang = this.#callback(bridge, (hang: ClusterHang) => {
        this.hangs.push(hang);
        onHang?.(hang);
      });
      if (!isSeen && brought !== null) await sendBroughtPanel(brought, bridge, signal);
      // An earlier abort had no tasks to cancel.
      signal?.throwIfAborted();
      if (dataset === null) yield* this.#chunks(bridge, graph);
      else await this.#write(bridge, graph);
      // The results are complete even if the cluster is lost now.
      this.report = await bridge.workers({ trace }).catch(() => null);
    } finally {
      // The bridge may be gone, and its tasks with it.
      await bridge.cancel().catch(() => {});
      await bridge.removeJob().catch(() => {});
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

  /** Has workers write the dataset. */
  async #write(bridge: Bridge, run: RunGraph): Promise<void> {
    const graph = run.dataset();
    await bridge.submit(graph);
    // An abort that came meanwhile may have had no tasks to cancel.
    this.#options.signal?.throwIfAborted();
    const { slabRows } = this.job.cut;
    const results = ahead(graph.results.length, this.#taken, (slab) => bridge.gather(graph.results[slab]!));
    for await (const [buffer] of results) {
      this.#count(this.#taken, JSON.parse(Buffer.from(buffer!).toString()) as OutputCounts);
      this.#taken++;
      this.#reportProgress(slabRows[this.#taken]!);
    }
  }

  #count(slab: number, { rowCount, nulls, nonFinite, bytes }: OutputCounts): void {
    if (bytes > 0) this.#parts.push({ name: `${partStem(this.job, slab)}.parquet`, rows: rowCount, bytes });
    this.counts.rowCount += rowCount;
    for (const [factor, count] of nulls.entries()) this.counts.nulls[factor]! += count;
    for (const [factor, count] of nonFinite.entries()) this.counts.nonFinite[factor]! += count;
  }

  /**
   * Takes the results in order. Slabs are submitted as the client takes those before: workers hold no more than a share of
   * their memory.
   */
  async *#chunks(bridge: Bridge, run: RunGraph): AsyncGenerator<FactorBlock> {
    const { places } = run;
    const histories = run.histories();
    const slabCount = slabCountOf(this.job);
    const { slabRows } = this.job.cut;
    const bytesOf = (rowCount: number) =>
      chunkBytes({ factors: this.job.factors, rowCount, laneCount: this.job.source.symbols.length });
    let next = places[this.#taken]?.slab ?? slabCount;
    let aheadBytes = 0;
    if (histories.tasks.length > 0 && next < slabCount) await bridge.submit(histories);
    // As one graph: of groups of few tasks Dask gives workers all, also before earlier ones of other runs.
    const submit = async () => {
      let end = next;
      for (; end < slabCount; end++) {
        const bytes = bytesOf(slabRows[end + 1]! - slabRows[end]!);
        if (aheadBytes > 0 && aheadBytes + bytes > this.#opened.prepared.held.aheadBytes) break;
        aheadBytes += bytes;
      }
      if (end === next) return;
      await bridge.submit(run.slabs(next, end));
      next = end;
      this.#options.signal?.throwIfAborted();
    };
    const shares = this.job.cut.shares.map((_, share) => share);
    const gather = async (index: number) => {
      const place = places[index]!;
      if (place.slab >= next) await submit();
      const gathered = shares.map((share) => bridge.gather(run.chunkKey(share, place)));
      return (await Promise.all(gathered)).map(([bytes]) => bytes!);
    };
    await submit();
    for await (const buffers of ahead(
      places.length,
      this.#taken,
      gather,
      (index) => places[index]!.slab < next,
    )) {
      const { first, end } = places[this.#taken]!;
      yield joinChunks(this.job, first, end - first, buffers);
      this.#taken++;
      aheadBytes -= bytesOf(end - first);
      this.#reportProgress(end);
      await submit();
    }
  }

  #reportProgress(end: number): void {
    this.#request.options.onProgress?.(end, this.job.outputRows[1]);
  }
}

/** Results in order, of which some are requested before they are used. */
async function* ahead<T>(
  count: number,
  first: number,
  request: (index: number) => Promise<T>,
  mayAsk: (index: number) => boolean = () => true,
): AsyncGenerator<T> {
  const asked: Promise<T>[] = [];
  for (let index = first, next = first; index < count; index++) {
    while (next < count && next < index + RESULTS_AHEAD && (next === index || mayAsk(next))) {
      const answer = request(next++);
      answer.catch(() => {}); // it is awaited later
      asked.push(answer);
    }
    yield await asked.shift()!;
  }
}

/** Cancels the tasks, or closes the bridge if the scheduler does not answer. */
async function leave(bridge: Bridge): Promise<void> {
  const cancelled = bridge.cancel().catch(() => {});
  const late = sleep(CANCEL_MS_MAX, "late", { ref: false });
  if ((await Promise.race([cancelled, late])) === "late") await bridge.close();
}
