import { type Command, InvalidArgumentError } from "commander";
import type { ClusterHealth, WorkerHealth } from "../cluster/doctor.ts";
import type { LocalCluster } from "../cluster/local_cluster.ts";
import { EXIT_CODES } from "../errors.ts";
import { THREADS_MAX } from "../limits.ts";
import { parseByteSize } from "../text/byte_size.ts";
import { counted } from "../text/counted.ts";
import { interruptionSignal } from "./interruption.ts";
import { withSpinner } from "./spinner.ts";
import { print, printNote } from "./terminal.ts";
import { formatTable } from "./text_table.ts";

interface LocalFlags {
  readonly workers: number;
  readonly threads: number;
  readonly memoryLimit?: number;
  readonly python?: string;
}

interface DoctorFlags {
  readonly scheduler: string;
  readonly store?: string;
  readonly python?: string;
  readonly node?: string;
  readonly json?: true;
}

const PYTHON = "Python that has Dask's distributed (default: FACTORLOOM_PYTHON, else the first that has it)";

export function addCluster(program: Command): void {
  const cluster = program.command("cluster").description("Dask clusters, to evaluate on many hosts");
  cluster
    .command("local")
    .description("a Dask scheduler and workers on this machine, to try it, until Ctrl-C")
    .option("--workers <count>", "worker processes", parseCount, 2)
    .option("--threads <count>", "tasks that a worker runs at a time", parseCount, 1)
    .option(
      "--memory-limit <size>",
      "memory of a worker, without its executors (default: half of the machine's, divided by the workers)",
      parseByteSize,
    )
    .option("--python <path>", PYTHON)
    .action(runLocal);
  cluster
    .command("doctor")
    .description("whether an evaluation can run on a cluster, and how fast the ways to its workers are")
    .requiredOption("--scheduler <address>", "of the Dask scheduler, e.g. tcp://host:8786")
    .option("--store <folder>", "folder on storage that client and workers see under the same path")
    .option("--python <path>", PYTHON)
    .option("--node <path>", "Node on the workers (default: FACTORLOOM_NODE there, else node on their PATH)")
    .option("--json", "print as JSON")
    .action(runDoctor);
}

function parseCount(text: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > THREADS_MAX)
    throw new InvalidArgumentError(`A whole number from 1 to ${THREADS_MAX}.`);
  return count;
}

/** Exit code 0 if it was asked to end, 2 if the scheduler ended by itself. */
async function runLocal({ workers, threads, memoryLimit, python }: LocalFlags): Promise<void> {
  const { startLocalCluster, SCHEDULER } = await import("../cluster/local_cluster.ts");
  const over = Promise.withResolvers<void>();
  interruptionSignal().addEventListener("abort", () => over.resolve());
  const onEnd = (name: string, reason: string) => {
    printNote(`${name} is gone: ${reason}`);
    if (name !== SCHEDULER) return;
    process.exitCode = EXIT_CODES.resources;
    over.resolve();
  };
  await using cluster = await startLocalCluster({
    workers,
    threadsPerWorker: threads,
    memoryLimit: memoryLimit === undefined ? undefined : String(memoryLimit),
    python,
    onEnd,
  });
  print(localText(cluster, threads));
  await over.promise;
}

function localText({ address, dashboard, workers }: LocalCluster, threads: number): string {
  return [
    `scheduler   ${address}`,
    `dashboard   ${dashboard ?? "none: install bokeh to see it"}`,
    `workers     ${workers.length}, each with ${counted(threads, "thread")}`,
    `evaluate    factorloom eval FORMULAS --data BARS --engine dask --scheduler ${address}`,
    "Ctrl-C ends it",
  ].join("\n");
}

/** Exit code 2 if there are problems. */
async function runDoctor({ json, ...options }: DoctorFlags): Promise<void> {
  const { examineCluster } = await import("../cluster/doctor.ts");
  const health = await withSpinner("cluster doctor", () => examineCluster(options));
  print(json ? JSON.stringify(health) : healthText(health));
  if (health.problems.length > 0) process.exitCode = EXIT_CODES.resources;
}

export function healthText({ scheduler, dashboard, versions, workers, problems }: ClusterHealth): string {
  const hosts = [
    { name: "client", versions: versions.client, node: process.versions.node },
    { name: "scheduler", versions: versions.scheduler, node: "" },
    ...workers.map((worker) => ({ ...worker, node: worker.node ? (worker.node.version ?? "none") : "?" })),
  ];
  const rows = hosts.map((each) => {
    const { host = "?", python = "?", dask = "?", distributed = "?" } = each.versions ?? {};
    return [each.name, host, python, dask, distributed, each.node];
  });
  const hasFolder = workers.some(({ folder }) => folder);
  const folderHeader = hasFolder ? ["write MB/s", "read back MB/s", "free GB"] : [];
  return [
    `scheduler ${scheduler}${dashboard === null ? "" : `, dashboard ${dashboard}`}`,
    "",
    formatTable(["", "host", "python", "dask", "distributed", "node"], rows),
    "",
    formatTable(
      ["", "threads", "memory GB", "executor", "round trip ms", "to it MB/s", ...folderHeader],
      workers.map((worker) => [...figuresOf(worker), ...(hasFolder ? folderFigures(worker) : [])]),
    ),
    "",
    ...(problems.length > 0 ? problems : ["all is well"]),
  ].join("\n");
}

function figuresOf({ name, threads, memoryLimitBytes, executor, way }: WorkerHealth): (string | number)[] {
  return [
    name,
    threads,
    // Dask says 0 where it limits nothing.
    memoryLimitBytes > 0 ? figure(memoryLimitBytes / 1e9) : "no limit",
    executor ? "runs" : "does not run",
    way ? figure(1000 * way.roundTripSeconds) : "-",
    way ? figure(way.transferBytes / way.transferSeconds / 1e6) : "-",
  ];
}

function folderFigures({ folder }: WorkerHealth): (string | number)[] {
  if (!folder || "problem" in folder) return ["-", "-", "-"];
  const { writeBytesPerSecond, readBytesPerSecond, freeBytes } = folder;
  return [writeBytesPerSecond / 1e6, readBytesPerSecond / 1e6, freeBytes / 1e9].map(figure);
}

function figure(value: number): number {
  return Number(value.toPrecision(3));
}
