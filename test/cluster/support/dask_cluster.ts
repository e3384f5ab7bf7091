import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findPython } from "../../../src/cluster/bridge/python.ts";

/** A scheduler and workers of Dask on loopback, each a process with one thread and a nanny. */
export class DaskCluster {
  readonly address: string;
  readonly scheduler: ChildProcess;
  readonly workers: readonly ChildProcess[];
  /** A folder for files of the test. */
  readonly folder: string;

  private constructor(
    address: string,
    scheduler: ChildProcess,
    workers: readonly ChildProcess[],
    folder: string,
  ) {
    this.address = address;
    this.scheduler = scheduler;
    this.workers = workers;
    this.folder = folder;
  }

  /** @param workerTtl after which silence Dask gives a worker up: any busy machine is silent for some seconds. */
  static async start({
    workers,
    workerTtl = "10 minutes",
  }: {
    workers: number;
    workerTtl?: string;
  }): Promise<DaskCluster> {
    const folder = await mkdtemp(join(tmpdir(), "factorloom-dask-"));
    const python = (await findPython()).path;
    const loopback = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"];
    const scheduler = startPython(python, "dask_scheduler", [...loopback, "--port", "0"], workerTtl);
    const address = await lineWith(scheduler, /Scheduler at:\s+(tcp:\S+)/);
    const options = ["--nworkers", "1", "--nthreads", "1", "--local-directory", folder];
    const started = Array.from({ length: workers }, () =>
      startPython(python, "dask_worker", [address, ...loopback, ...options], workerTtl),
    );
    await Promise.all(started.map((worker) => lineWith(worker, /Registered to:\s+(\S+)/)));
    return new DaskCluster(address, scheduler, started, folder);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.workers, this.scheduler].map(end));
    await rm(this.folder, { recursive: true, force: true });
  }
}

function startPython(
  python: string,
  name: string,
  options: readonly string[],
  workerTtl: string,
): ChildProcess {
  return spawn(python, ["-m", `distributed.cli.${name}`, ...options], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      ...process.env,
      FACTORLOOM_NODE: process.execPath,
      PYTHONDONTWRITEBYTECODE: "1",
      // Tasks may lose one worker, not three: those that lose more are given up soon.
      DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES: "1",
      DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL: workerTtl,
    },
  });
}

/** The first group of the first line of a process that has the pattern; lines are read on, so that it never waits. */
async function lineWith(child: ChildProcess, pattern: RegExp): Promise<string> {
  const lines: string[] = [];
  const reader = createInterface({ input: child.stderr! });
  return await new Promise((resolve, reject) => {
    reader.on("line", (line) => {
      lines.push(line);
      const found = pattern.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    reader.on("close", () => reject(new Error(lines.join("\n"))));
  });
}

/** Asks a process to end; nannies take their workers with them. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await over;
  clearTimeout(timer);
}
