import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { unlessAborted } from "../../evaluation/awaiting.ts";
import { machineMemoryBytes } from "../../limits.ts";
import { keepLastLines } from "../bridge/last_lines.ts";
import { findPython, pythonScript } from "../bridge/python.ts";
import { localClusterFailed } from "../protocol/errors.ts";

export interface LocalClusterOptions {
  /** Worker processes. */
  readonly workers: number;
  /** Tasks that a worker runs at a time. Default 1. */
  readonly threads?: number | undefined;
  /**
   * Bytes for each worker with its executors; 0 for no limit. Default: the workers share four fifths of the machine's
   * memory; the rest is for the client and the system.
   */
  readonly memoryLimit?: number | undefined;
  /** Python with distributed; see `findPython`. */
  readonly python?: string | undefined;
  /** Tasks that the scheduler gives a worker per thread, `inf` for all. Default: Dask's setting. */
  readonly workerSaturation?: string | undefined;
  /** Resources of each worker, by Dask's names, e.g. `{ GPU: 1 }`. */
  readonly resources?: Readonly<Record<string, number>> | undefined;
  /** Aborts the start. */
  readonly signal?: AbortSignal | undefined;
}

/** Dask's scheduler and workers on this machine, reachable from this machine only. */
export interface LocalCluster extends AsyncDisposable {
  /** Address of the scheduler, `tcp://127.0.0.1:PORT`. */
  readonly address: string;
  /** Link to Dask's dashboard; null if bokeh, which draws it, is not installed. */
  readonly dashboard: string | null;
  /** Resolves when the cluster has ended, with how, and its last output. */
  readonly ended: Promise<string>;
}

const START_SECONDS_MAX = 60;
/** How long the script may take to end the cluster, of which it kills what is left after 2 s. */
const GRACE_MS = 4000;
/** How long its last lines may take to arrive. */
const LAST_LINES_MS = 200;
const LINES_MAX = 20;

const SATURATION = "DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION";
/** Of the machine's memory, for all workers. */
const MEMORY_SHARE = 0.8;

/**
 * Starts Dask's `LocalCluster` in a process of its own and waits until all workers have joined.
 *
 * @throws ResourceError E602 without a Python that has distributed, E603, with the last output, if it does not start; the
 *   signal's reason when aborted.
 */
export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const { workers, threads = 1, resources = {}, workerSaturation, signal } = options;
  const python = await findPython(options.python, signal);
  const memoryLimit = options.memoryLimit ?? Math.floor((MEMORY_SHARE * machineMemoryBytes()) / workers);
  const folder = await mkdtemp(join(tmpdir(), "factorloom-cluster-"));
  const size = { n_workers: workers, threads_per_worker: threads, memory_limit: memoryLimit, resources };
  const args = ["-B", pythonScript("local_cluster.py"), JSON.stringify({ ...size, local_directory: folder })];
  // The `node` on the PATH may be older than this one.
  const env: NodeJS.ProcessEnv = { ...process.env, FACTORLOOM_NODE: process.execPath };
  if (workerSaturation !== undefined) env[SATURATION] = workerSaturation;
  const child = spawn(python, args, { env, detached: true });
  // The script may end before we do.
  child.stdin.on("error", () => {});
  const lines = keepLastLines([child.stderr], LINES_MAX);
  // All processes of the cluster write to the script's stderr.
  const allGone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const within = (ms: number) => Promise.race([allGone, wait(ms, undefined, { ref: false })]);
  const exit = once(child, "exit").then(async ([status, killer]) => {
    await within(LAST_LINES_MS);
    return killer ? `it was ended by ${killer}` : `it ended with status ${status}`;
  });
  const withOutput = (how: string) => [how, ...lines].join("\n");
  const close = async () => {
    child.kill("SIGTERM");
    await within(GRACE_MS);
    try {
      process.kill(-child.pid!, "SIGKILL");
    } catch {
      // No process is left.
    }
    await within(GRACE_MS);
    await rm(folder, { recursive: true, force: true });
  };
  const late = wait(1000 * START_SECONDS_MAX, `it did not answer within ${START_SECONDS_MAX} s`, {
    ref: false,
  });
  const failed = Promise.race([exit, late]).then((how) => {
    throw localClusterFailed(withOutput(how));
  });
  try {
    const started = once(createInterface(child.stdout), "line");
    const [line] = await unlessAborted(Promise.race([started, failed]), signal);
    return { ...JSON.parse(line), ended: exit.then(withOutput), [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
