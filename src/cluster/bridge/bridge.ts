import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { InternalError } from "../../errors.ts";
import { unlessAborted } from "../../evaluation/awaiting.ts";
import { bridgeEnded, noPython, otherVersion } from "../protocol/errors.ts";
import { type BridgeFault, errorOfFault } from "../protocol/faults.ts";
import { readFrames, writeFrame } from "../protocol/frames.ts";
import type { ClusterHang } from "../protocol/protocol.ts";
import {
  type BroughtPanel,
  type Bundle,
  PROTOCOL_VERSION,
  type TaskGraph,
  type TaskKey,
  type TaskReport,
} from "../protocol/protocol.ts";
import { keepLastLines } from "./last_lines.ts";
import { pythonScript } from "./python.ts";

/** Paths of PEM files. */
export interface TlsFiles {
  /** The authority that signed the certificate of the scheduler. */
  readonly ca?: string | undefined;
  /** The certificate of the client, and its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface ConnectOptions {
  /** Limit for the whole start, as the user set it. */
  readonly timeoutSeconds: number;
  /** What is left of it. */
  readonly seconds?: number;
  readonly tls?: TlsFiles | undefined;
  /** Where tasks will run: clusters that grow start such workers. */
  readonly workers?: readonly string[] | undefined;
  readonly resources?: Readonly<Record<string, number>> | undefined;
}

export interface PythonVersions {
  readonly python: string;
  readonly dask: string;
  readonly distributed: string;
}

export interface ClusterFacts {
  /** Link to Dask's dashboard, if there is one. */
  readonly dashboard: string | null;
  readonly schedulerVersions: PythonVersions;
  readonly workers: readonly {
    readonly address: string;
    readonly host: string;
    readonly threads: number;
    readonly memoryLimitBytes: number;
  }[];
}

/** Counts of tasks, in total and by the name of their group. */
export interface ClusterProgress {
  readonly groups: Readonly<Record<string, GroupProgress>>;
  readonly done: number;
  readonly total: number;
}

export interface GroupProgress {
  readonly done: number;
  /** Given to a worker. */
  readonly processing: number;
  /** Ready, and held back until a worker is free. */
  readonly queued: number;
  readonly total: number;
}

/** What a job did on a worker. */
export interface JobCounters {
  readonly tasks: number;
  /** Sum of the seconds in which executors ran tasks. */
  readonly seconds: number;
  /** Over pipes to and from executors. */
  readonly bytesSent: number;
  readonly bytesReceived: number;
  /** Of column files and parts of a dataset, as executors report. */
  readonly bytesRead: number;
  readonly bytesWritten: number;
  readonly executorStarts: number;
  readonly executorRestarts: number;
  readonly deadlineKills: number;
  /** Executors that were killed because they took too much memory. */
  readonly memoryKills: number;
  /** The most resident memory of the worker's own process, and of its executors together, while the job ran. */
  readonly workerBytesMax: number;
  readonly executorBytesMax: number;
}

/** A task that a worker ran. */
export interface TaskTrace extends Omit<TaskReport, "counts"> {
  /** The key as Dask writes it, e.g. `('factorloom_3f2a_slabs', 5)`. */
  readonly key: string;
  /** Index of the executor on its worker, and its process. */
  readonly executor: number;
  readonly pid: number;
}

/** A worker, and what a job did there since the job was added or the worker started. */
export interface WorkerReport {
  readonly address: string;
  readonly threads: number;
  /** Since its last heartbeat. */
  readonly silentSeconds: number;
  /** How often its nanny restarted it since the bridge connected. */
  readonly restarts: number;
  readonly managedBytes: number;
  readonly unmanagedBytes: number;
  readonly spilledBytes: number;
  /** Values that it holds, and how many of them other workers hold too. */
  readonly keys: number;
  readonly replicatedKeys: number;
  readonly stolenFrom: number;
  readonly stolenBy: number;
  /** The trace is empty unless it was requested; it has the last 100,000 tasks. */
  readonly job: { readonly counters: JobCounters; readonly trace: readonly TaskTrace[] };
}

export interface ClusterReport {
  readonly workers: readonly WorkerReport[];
  /** Workers that joined and left since the bridge connected: a restart by a nanny counts as both. */
  readonly joined: number;
  readonly gone: number;
}

/** A worker, and what it answers; `problem` is why it does not answer, or its executor fails. */
export interface ProbedWorker {
  readonly name: string;
  readonly address: string;
  /** 0 for no limit. */
  readonly memoryLimitBytes: number;
  readonly host?: string;
  readonly versions?: PythonVersions;
  readonly node?: string;
  readonly factorloom?: string;
  /** False where no folder was named. */
  readonly hasWritten?: boolean;
  /** By how much its clock is ahead of the client's, with the time that the answer took. */
  readonly clockSeconds?: number;
  readonly problem?: string;
}

interface Answer {
  readonly record: Readonly<Record<string, unknown>>;
  readonly buffers: readonly Uint8Array[];
}

interface FromBridge extends Readonly<Record<string, unknown>> {
  readonly id?: number;
  readonly kind: "hello" | "progress" | "hang" | "answer" | "fault";
}

const CLOSE_MS_MAX = 5_000;
const LAST_LINES_MAX = 40;

/** Dask's client in a Python process. Its tasks end with it, and it ends with this process. */
export class Bridge {
  /** Versions of Python and Dask on this host. */
  readonly versions: PythonVersions;
  /** Called twice a second while results are awaited. */
  onProgress: (progress: ClusterProgress) => void = () => undefined;
  /** Called for each operator that hangs, once. */
  onHang: (hang: ClusterHang) => void = () => undefined;
  readonly #child: ChildProcess;
  readonly #lastLines: readonly string[];
  readonly #pending = new Map<number, PromiseWithResolvers<Answer>>();
  #forgetSignal = (): void => undefined;
  #nextId = 1;
  #ended: Error | null = null;

  private constructor(child: ChildProcess, versions: PythonVersions, lastLines: readonly string[]) {
    this.#child = child;
    this.versions = versions;
    this.#lastLines = lastLines;
  }

  /** @throws ResourceError E602 if Python or Dask is missing, E605 for files of another version, E611. */
  static async start({
    python,
    signal,
    startSignal = signal,
  }: {
    python: string;
    signal?: AbortSignal | undefined;
    /** Aborts only the start. */
    startSignal?: AbortSignal | undefined;
  }): Promise<Bridge> {
    signal?.throwIfAborted();
    const environment = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
    const child = spawn(python, [pythonScript("bridge.py")], { env: environment });
    if (child.pid === undefined) throw notStarted((await once(child, "error"))[0], python);
    const lastLines = keepLastLines([child.stderr], LAST_LINES_MAX);
    // The reader of stdout notices a broken pipe.
    child.stdin.on("error", () => undefined);
    child.on("error", () => undefined);
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const frames = readFrames<FromBridge>(child.stdout);
    const first = await unlessAborted(frames.next(), startSignal).catch((error) => {
      child.kill("SIGKILL");
      throw error;
    });
    if (first.done) throw await closed.then(() => endedEarly(child, python, lastLines));
    const hello = first.value.record as FromBridge & PythonVersions & { protocol: number };
    if (hello.protocol !== PROTOCOL_VERSION) {
      child.kill("SIGKILL");
      throw otherVersion("the bridge", `protocol ${hello.protocol}`, `protocol ${PROTOCOL_VERSION}`);
    }
    const { python: version, dask, distributed } = hello;
    const bridge = new Bridge(child, { python: version, dask, distributed }, lastLines);
    void bridge.#listen(frames);
    const abort = () => bridge.#abort(signal!);
    signal?.addEventListener("abort", abort, { once: true });
    bridge.#forgetSignal = () => signal?.removeEventListener("abort", abort);
    if (signal?.aborted) abort();
    return bridge;
  }

  /** Whether it takes no more requests. */
  get hasEnded(): boolean {
    return this.#ended !== null;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** @throws UsageError E528, ResourceError E603 or E604. */
  async connect(address: string, options: ConnectOptions): Promise<ClusterFacts> {
    const { record } = await this.#ask({
      kind: "connect",
      address,
      seconds: options.timeoutSeconds,
      ...options,
    });
    const { dashboard, schedulerVersions, workers } = record as unknown as ClusterFacts;
    return { dashboard, schedulerVersions, workers };
  }

  /**
   * Brings the bundle to all workers, also to those that join later. One worker is enough: others may end or not answer.
   */
  async install({ bytes, ...bundle }: Bundle): Promise<void> {
    await this.#ask({ kind: "install", ...bundle }, [bytes]);
  }

  /**
   * Brings the serialised job of a run to all workers; `job` is the SHA-256 of the bytes. One run at a time.
   *
   * @returns false if a worker does not see the panel that the client brings, so that `put` must follow
   */
  async addJob(job: string, bytes: Uint8Array, panel: BroughtPanel | null): Promise<boolean> {
    const { record } = await this.#ask({ kind: "addJob", job, panel }, [bytes]);
    return record["isPanelSeen"] === true;
  }

  /** Puts a piece of the job's panel on a worker, from which others fetch it. */
  async put(index: number, bytes: Uint8Array): Promise<void> {
    await this.#ask({ kind: "put", index }, [bytes]);
  }

  /** Ends the executors too. */
  async removeJob(): Promise<void> {
    await this.#ask({ kind: "removeJob" });
  }

  /** Submits a graph of the job; there may be several, one after the other. */
  async submit(graph: TaskGraph): Promise<void> {
    await this.#ask({ kind: "submit" }, [Buffer.from(JSON.stringify(graph))]);
  }

  /**
   * Waits for a result of a graph, which can be gathered once. The last buffer of a part of a dataset has its counts as
   * JSON.
   *
   * @throws the fault of the task, E607 or E611; an AbortError after `cancel`.
   */
  async gather(key: TaskKey): Promise<Uint8Array[]> {
    const { buffers } = await this.#ask({ kind: "gather", key });
    return [...buffers];
  }

  /** Cancels all submitted tasks; executors are free at once. */
  async cancel(): Promise<void> {
    await this.#ask({ kind: "cancel" });
  }

  /** What the workers did for the job. */
  async workers({ trace = false } = {}): Promise<ClusterReport> {
    const { buffers } = await this.#ask({ kind: "workers", trace });
    return JSON.parse(Buffer.from(buffers[0]!).toString()) as ClusterReport;
  }

  /** Has every worker start an executor for a moment, and write in the folder if there is one. */
  async probe(folder: string | null, seconds: number): Promise<readonly ProbedWorker[]> {
    const { record } = await this.#ask({ kind: "probe", folder, seconds });
    const workers = record["workers"] as (ProbedWorker & { readonly fault?: BridgeFault })[];
    return workers.map(({ fault, ...worker }) => {
      if (fault === undefined) return worker;
      return { ...worker, problem: errorOfFault(fault).message.replaceAll(/\n\s*/g, "; ") };
    });
  }

  /** Leaves the cluster and ends the process. */
  async close(): Promise<void> {
    this.#forgetSignal();
    // Before tasks are taken back, whose requests would say that somebody cancelled them.
    this.#fail(bridgeEnded("it was closed"));
    this.#child.stdin!.end();
    if (!isOver(this.#child)) {
      const timer = new AbortController();
      const late = sleep(CLOSE_MS_MAX, "late", { signal: timer.signal, ref: false }).catch(() => "late");
      const over = await Promise.race([once(this.#child, "exit"), late]);
      if (over === "late") this.#child.kill("SIGKILL");
      timer.abort();
    }
  }

  #ask(request: object, buffers: readonly Uint8Array[] = []): Promise<Answer> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    const id = this.#nextId++;
    const pending = Promise.withResolvers<Answer>();
    this.#pending.set(id, pending);
    writeFrame(this.#child.stdin!, { id, ...request }, buffers);
    return pending.promise;
  }

  async #listen(
    frames: AsyncIterable<{ record: FromBridge; buffers: readonly Uint8Array[] }>,
  ): Promise<void> {
    try {
      for await (const { record, buffers } of frames) this.#receive(record, buffers);
      if (!isOver(this.#child)) await once(this.#child, "exit");
      const { exitCode, signalCode } = this.#child;
      const reason = signalCode === null ? `exit status ${exitCode}` : signalCode;
      this.#fail(bridgeEnded([reason, ...this.#lastLines].join("\n")));
    } catch (error) {
      this.#child.kill("SIGKILL");
      this.#fail(new InternalError("the bridge to Dask sent a wrong record", { cause: error }));
    }
  }

  #receive(record: FromBridge, buffers: readonly Uint8Array[]): void {
    const pending = this.#pending.get(record.id!);
    this.#pending.delete(record.id!);
    if (record.kind === "progress") this.onProgress(record as unknown as ClusterProgress);
    else if (record.kind === "hang") this.onHang(record as unknown as ClusterHang);
    else if (record.kind === "fault") pending?.reject(errorOfFault(record["fault"] as BridgeFault));
    else pending?.resolve({ record, buffers });
  }

  #fail(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
  }

  #abort(signal: AbortSignal): void {
    this.#fail(signal.reason);
    this.#child.stdin!.end();
  }
}

/** Why there is no process; the system may have refused it. */
function notStarted({ code, message }: NodeJS.ErrnoException, python: string): Error {
  return code === "ENOENT" || code === "EACCES" ? noPython([python]) : bridgeEnded(message);
}

/** Why the bridge ended before its first record. */
function endedEarly({ signalCode }: ChildProcess, python: string, lastLines: readonly string[]): Error {
  const text = [...(signalCode === null ? [] : [signalCode]), ...lastLines].join("\n");
  const lacksDask = /No module named '?(?:dask|distributed|cloudpickle)/.test(text);
  return lacksDask ? noPython([python]) : bridgeEnded(text);
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
