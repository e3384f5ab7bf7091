import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { findPython } from "../../../../src/cluster/bridge/python.ts";
import { machineMemoryBytes } from "../../../../src/limits.ts";
import { parseByteSize } from "../../../../src/text/byte_size.ts";
import { ProcessGroup } from "./process_group.ts";

export interface ProcessClusterOptions {
  readonly workers: number;
  /** Tasks that a worker runs at a time. Default 1. */
  readonly threadsPerWorker?: number;
  /** Of each worker, e.g. `4GB`. Default: they share four fifths of the machine's memory. */
  readonly memoryLimit?: string;
  /** Settings of Dask, as variables of the environment: `DASK_DISTRIBUTED__...`. */
  readonly config?: Readonly<Record<string, string>>;
}

/** Runs a scheduler or a worker, which ends with the process that has started it. */
export const DASK_PROCESS = join(import.meta.dirname, "local_process.py");

const START_SECONDS_MAX = 60;

/** As `factorloom cluster local` sets them. */
const SETTINGS = {
  DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL: "30s",
  DASK_DISTRIBUTED__COMM__COMPRESSION: "None",
  DASK_DISTRIBUTED__WORKER__PROFILE__INTERVAL: "1s",
  DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL: "500ms",
};

interface DaskProcess {
  readonly name: string;
  readonly group: ProcessGroup;
}

/** Dask's scheduler and workers with their nannies, each a process that tests can kill by its id. */
export class ProcessCluster implements AsyncDisposable {
  /** Address of the scheduler, `tcp://127.0.0.1:PORT`. */
  address = "";
  readonly folder: string;
  readonly #options: ProcessClusterOptions;
  readonly #python: string;
  readonly #processes: DaskProcess[] = [];
  #monitor = "";

  /** Resolves once all workers have joined. */
  static async start(options: ProcessClusterOptions): Promise<ProcessCluster> {
    const folder = await mkdtemp(join(tmpdir(), "factorloom-cluster-"));
    const cluster = new ProcessCluster(await findPython(), folder, options);
    try {
      await cluster.#start();
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  private constructor(python: string, folder: string, options: ProcessClusterOptions) {
    this.#python = python;
    this.folder = folder;
    this.#options = options;
  }

  get schedulerPid(): number {
    return this.#processes[0]!.group.pid;
  }

  /** Processes that run tasks: the children of nannies. */
  async workerPids(): Promise<number[]> {
    const nannies = this.#processes.slice(1);
    const members = (await Promise.all(nannies.map(({ group }) => group.members()))).flat();
    return members
      .filter(({ parent, group, command }) => parent === group && !command.includes("resource_tracker"))
      .map(({ pid }) => pid);
  }

  /** @param options more options of Dask's command for workers, e.g. `["--resources", "GPU=1"]` */
  async addWorker(options: readonly string[] = []): Promise<{ name: string }> {
    const worker = await this.#launchWorker(options);
    await this.#joined(worker);
    return worker;
  }

  /** Workers first: they sign off at the scheduler, and would wait for one that is gone. */
  async close(): Promise<void> {
    const [scheduler, ...workers] = this.#processes;
    await Promise.all(workers.map(({ group }) => group.end()));
    await scheduler?.group.end();
    await rm(this.folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Starts all at the same time: workers wait for the file in which the scheduler writes its address. */
  async #start(): Promise<void> {
    const scheduler = await this.#launch("the scheduler", ["scheduler", "--port", "0"]);
    const workers: DaskProcess[] = [];
    while (workers.length < this.#options.workers) workers.push(await this.#launchWorker());
    const { address, services } = await until(scheduler, () => readJson(this.#schedulerFile));
    this.address = address;
    this.#monitor = `http://127.0.0.1:${services.dashboard}`;
    await Promise.all(workers.map((worker) => this.#joined(worker)));
  }

  get #schedulerFile(): string {
    return join(this.folder, "scheduler.json");
  }

  async #launchWorker(options: readonly string[] = []): Promise<DaskProcess> {
    const { threadsPerWorker = 1 } = this.#options;
    const name = `worker-${this.#processes.length - 1}`;
    return await this.#launch(name, [
      ...["worker", "--name", name, "--nworkers", "1", "--nthreads", String(threadsPerWorker)],
      ...[
        "--memory-limit",
        String(this.#memoryLimit),
        "--local-directory",
        join(this.folder, name),
        ...options,
      ],
    ]);
  }

  get #memoryLimit(): number {
    const { workers, memoryLimit } = this.#options;
    if (memoryLimit !== undefined) return parseByteSize(memoryLimit);
    return Math.floor((0.8 * machineMemoryBytes()) / Math.max(1, workers));
  }

  async #launch(name: string, args: readonly string[]): Promise<DaskProcess> {
    const place = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"];
    const command = ["-B", DASK_PROCESS, ...args, ...place, "--scheduler-file", this.#schedulerFile];
    const messageLimit = Math.floor(Math.max(2 ** 20, Math.min(this.#memoryLimit / 32, 50e6)));
    const own = {
      ...SETTINGS,
      DASK_DISTRIBUTED__WORKER__TRANSFER__MESSAGE_BYTES_LIMIT: String(messageLimit),
      FACTORLOOM_NODE: process.execPath,
      ...this.#options.config,
    };
    const group = await ProcessGroup.start(this.#python, command, { ...process.env, ...own });
    this.#processes.push({ name, group });
    return { name, group };
  }

  async #joined(worker: DaskProcess): Promise<void> {
    await until(worker, async () => {
      const answer = await fetch(`${this.#monitor}/json/identity.json`).catch(() => null);
      if (!answer?.ok) return null;
      const { workers } = (await answer.json()) as { workers: Record<string, { name: string | number }> };
      return Object.values(workers).some(({ name }) => name === worker.name) || null;
    });
  }
}

/** Polls until the answer is not null. @throws Error if the process ends, or is late. */
async function until<T>({ name, group }: DaskProcess, ask: () => Promise<T | null>): Promise<T> {
  const giveUp = performance.now() + 1000 * START_SECONDS_MAX;
  let end: string | null = null;
  void group.ended.then((reason) => {
    end = reason;
  });
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (performance.now() > giveUp) end ??= `it did not answer within ${START_SECONDS_MAX} s`;
    if (end !== null) throw new Error(`${name} did not start: ${end}\n${group.lastLines}`);
    await wait(20);
  }
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
