import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { makeFolders } from "../../files/folders.ts";
import { machineMemoryBytes } from "../../limits.ts";
import { parseByteSize } from "../../text/byte_size.ts";
import { ProcessGroup } from "../bridge/process_group.ts";
import { findPython, pythonScript } from "../bridge/python.ts";
import { localClusterFailed } from "../protocol/errors.ts";

export interface LocalClusterOptions {
  /** Worker processes. */
  readonly workers: number;
  /** Tasks that a worker runs at a time. Default 1. */
  readonly threadsPerWorker?: number | undefined;
  /**
   * Limit for each worker with its executors: bytes, or text such as `4GB`; 0 for none. Default `auto`: the workers share
   * four fifths of the machine's memory; the rest is for the client and the system.
   */
  readonly memoryLimit?: string | undefined;
  /** Python with distributed; see `findPython`. */
  readonly python?: string | undefined;
  /** For data that Dask spills. Default: a new folder in the system's folder for temporary files, removed by `close`. */
  readonly folder?: string | undefined;
  /** Whether workers have a nanny, which limits their memory and restarts them. Default true. */
  readonly nanny?: boolean | undefined;
  /**
   * Tasks that the scheduler gives a worker per thread; the others wait with it. Default: Dask's setting, 1.1. Infinity:
   * all that are ready, as Dask did before it queued.
   */
  readonly workerSaturation?: number | undefined;
  /** Settings of Dask, as variables of the environment: `DASK_DISTRIBUTED__...`. */
  readonly config?: Readonly<Record<string, string>> | undefined;
  /** Resources of each worker, by Dask's names, e.g. `{ GPU: 1 }`. */
  readonly resources?: Readonly<Record<string, number>> | undefined;
  /** Aborts the start. */
  readonly signal?: AbortSignal | undefined;
  /** Called when `the scheduler` or a worker (its nanny) ends before `close`, with how, and its last output. */
  readonly onEnd?: ((name: string, reason: string) => void) | undefined;
}

export interface LocalWorker {
  /** Id of the process, or of its nanny if it has one. */
  readonly pid: number;
  readonly name: string;
}

/** Dask's scheduler and workers on this machine, reachable from this machine only. */
export interface LocalCluster extends AsyncDisposable {
  /** Address of the scheduler, `tcp://127.0.0.1:PORT`. */
  readonly address: string;
  /** Link to Dask's dashboard; null if bokeh, which draws it, is not installed. */
  readonly dashboard: string | null;
  readonly folder: string;
  readonly schedulerPid: number;
  readonly workers: readonly LocalWorker[];
  /** Processes that run tasks: the workers, or the children of their nannies. */
  workerPids(): Promise<number[]>;
  /**
   * @param options more options of Dask's command for workers, e.g. `["--resources", "GPU=1"]`
   * @throws ResourceError E618 if it does not join.
   */
  addWorker(options?: readonly string[]): Promise<LocalWorker>;
  /** Ends all processes within seconds, and removes the folder if it was made here. */
  close(): Promise<void>;
}

/** Its name in `onEnd` and errors. */
export const SCHEDULER = "the scheduler";

const START_SECONDS_MAX = 60;

/** Of the machine's memory, for all workers. */
const MEMORY_SHARE = 0.8;

/**
 * Defaults that differ from Dask's: lost workers are noticed within 30 s, connections within a machine need no compression,
 * and Dask's own sampling, which would take a tenth of two cores, is rare.
 */
const SETTINGS = {
  DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL: "30s",
  DASK_DISTRIBUTED__COMM__COMPRESSION: "None",
  DASK_DISTRIBUTED__WORKER__PROFILE__INTERVAL: "1s",
  DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL: "500ms",
};

/** Share of a worker's memory for one message; Dask's default is 50 MB for any worker. */
const MESSAGE_SHARE = 1 / 32;
const MESSAGE_BYTES_MIN = 2 ** 20;
const MESSAGE_BYTES_MAX = 50e6;

/**
 * Starts a scheduler and workers and waits until all have joined.
 *
 * @throws UsageError E507 for a wrong memory limit; ResourceError E602 without a Python that has distributed, E618, with the
 *   last output, if a process does not start; the signal's reason when aborted.
 */
export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const { path: python } = await findPython(options.python, options.signal);
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "factorloom-cluster-")));
  await makeFolders(folder);
  const cluster = new RunningCluster(python, folder, options);
  try {
    await cluster.start();
  } catch (error) {
    await cluster.close();
    throw error;
  }
  return cluster;
}

class RunningCluster implements LocalCluster {
  address = "";
  dashboard: string | null = null;
  readonly folder: string;
  readonly workers: LocalWorker[] = [];
  readonly #options: LocalClusterOptions;
  readonly #python: string;
  readonly #groups: { readonly name: string; readonly group: ProcessGroup }[] = [];
  #monitor = "";
  #closing: Promise<void> | null = null;

  constructor(python: string, folder: string, options: LocalClusterOptions) {
    this.#python = python;
    this.folder = folder;
    this.#options = options;
  }

  /** Starts all at the same time: workers wait for the file in which the scheduler writes its address. */
  async start(): Promise<void> {
    await rm(this.#schedulerFile, { force: true });
    await this.#launch(SCHEDULER, ["scheduler", "--port", "0"]);
    for (let count = 0; count < this.#options.workers; count++) await this.#launchWorker();
    const { address, services } = await this.#until(SCHEDULER, () => readJson(this.#schedulerFile));
    this.address = address;
    this.#monitor = `http://127.0.0.1:${services.dashboard}`;
    await Promise.all(this.workers.map(({ name }) => this.#joined(name)));
    this.dashboard = await dashboardOf(this.#monitor);
  }

  get schedulerPid(): number {
    return this.#groups[0]!.group.pid;
  }

  async workerPids(): Promise<number[]> {
    const leaders = this.#groups.slice(1).map(({ group }) => group);
    if (this.#options.nanny === false) return leaders.map(({ pid }) => pid);
    const members = (await Promise.all(leaders.map((group) => group.members()))).flat();
    return members
      .filter(({ parent, group, command }) => parent === group && !command.includes("resource_tracker"))
      .map(({ pid }) => pid);
  }

  async addWorker(options: readonly string[] = []): Promise<LocalWorker> {
    const worker = await this.#launchWorker(options);
    await this.#joined(worker.name);
    return worker;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    // Workers first: they sign off at the scheduler, and would wait for one that is gone.
    const [scheduler, ...workers] = this.#groups;
    await Promise.all(workers.map(({ group }) => group.end()));
    await scheduler?.group.end();
    if (this.#options.folder === undefined) await rm(this.folder, { recursive: true, force: true });
    else await rm(this.#schedulerFile, { force: true });
  }

  get #schedulerFile(): string {
    return join(this.folder, "scheduler.json");
  }

  async #launchWorker(options: readonly string[] = []): Promise<LocalWorker> {
    const { threadsPerWorker = 1, nanny = true, resources = {} } = this.#options;
    const amounts = Object.entries(resources).map(([resource, amount]) => `${resource}=${amount}`);
    const name = `worker-${this.workers.length}`;
    const { pid } = await this.#launch(name, [
      ...["worker", "--name", name, "--nworkers", "1", "--nthreads", String(threadsPerWorker)],
      ...["--memory-limit", String(this.#memoryLimit), "--local-directory", join(this.folder, name)],
      nanny ? "--nanny" : "--no-nanny",
      ...(amounts.length > 0 ? ["--resources", amounts.join(" ")] : []),
      ...options,
    ]);
    const worker = { pid, name };
    this.workers.push(worker);
    return worker;
  }

  get #memoryLimit(): number {
    const { workers, memoryLimit = "auto" } = this.#options;
    if (memoryLimit !== "auto") return parseByteSize(memoryLimit);
    return Math.floor((MEMORY_SHARE * machineMemoryBytes()) / Math.max(1, workers));
  }

  /** Limited because a message is in memory twice, which Dask does not count. */
  get #messageLimit(): string {
    const share = Math.floor(MESSAGE_SHARE * (this.#memoryLimit || Number.POSITIVE_INFINITY));
    return String(Math.max(MESSAGE_BYTES_MIN, Math.min(share, MESSAGE_BYTES_MAX)));
  }

  async #launch(name: string, args: readonly string[]): Promise<ProcessGroup> {
    const address = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"];
    const command = ["-B", pythonScript("local_process.py"), ...args, ...address];
    // The `node` on the PATH may be older than this one.
    const defaults = {
      ...SETTINGS,
      DASK_DISTRIBUTED__WORKER__TRANSFER__MESSAGE_BYTES_LIMIT: this.#messageLimit,
    };
    const env = {
      ...process.env,
      FACTORLOOM_NODE: process.execPath,
      FACTORLOOM_DASK_DEFAULTS: JSON.stringify(defaults),
      ...saturationSetting(this.#options.workerSaturation),
      ...this.#options.config,
    };
    const group = await ProcessGroup.start(
      this.#python,
      [...command, "--scheduler-file", this.#schedulerFile],
      env,
    );
    this.#groups.push({ name, group });
    void group.ended.then((reason) => {
      if (this.#closing === null) this.#options.onEnd?.(name, `${reason}\n${group.lastLines}`);
    });
    return group;
  }

  #joined(name: string): Promise<true> {
    return this.#until(name, async () => {
      const answer = await fetch(`${this.#monitor}/json/identity.json`).catch(() => null);
      if (!answer?.ok) return null;
      const { workers } = (await answer.json()) as { workers: Record<string, { name: string | number }> };
      return Object.values(workers).some((worker) => worker.name === name) || null;
    });
  }

  /** Polls until the answer is not null. @throws ResourceError E618 */
  async #until<T>(name: string, ask: () => Promise<T | null>): Promise<T> {
    const { group } = this.#groups.find((each) => each.name === name)!;
    const giveUp = performance.now() + 1000 * START_SECONDS_MAX;
    let end: string | null = null;
    void group.ended.then((reason) => {
      end = reason;
    });
    for (;;) {
      const answer = await ask();
      if (answer !== null) return answer;
      if (performance.now() > giveUp) end ??= `it did not answer within ${START_SECONDS_MAX} s`;
      this.#options.signal?.throwIfAborted();
      if (end !== null) throw localClusterFailed(name, `${end}\n${group.lastLines}`);
      await wait(20);
    }
  }
}

/** Dask writes infinity as `inf`. */
function saturationSetting(saturation: number | undefined): Record<string, string> {
  if (saturation === undefined) return {};
  const text = saturation === Number.POSITIVE_INFINITY ? "inf" : String(saturation);
  return { DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION: text };
}

/** The file that the scheduler writes. */
interface SchedulerFile {
  readonly address: string;
  readonly services: { readonly dashboard: number };
}

/** Null while the file is missing or incomplete. */
async function readJson(file: string): Promise<SchedulerFile | null> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return null;
  }
}

/** Null without bokeh: the page then says what to install. */
async function dashboardOf(monitor: string): Promise<string | null> {
  const link = `${monitor}/status`;
  const answer = await fetch(link).catch(() => null);
  return answer?.ok && !(await answer.text()).includes("bokeh >=") ? link : null;
}
