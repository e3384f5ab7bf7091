import { hostname } from "node:os";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { ProbedWorker } from "../../cluster/bridge/bridge.ts";
import type { ClusterHealth } from "../../cluster/deploy/doctor.ts";
import type { LocalCluster } from "../../cluster/deploy/local_cluster.ts";
import type { StoredRun } from "../../cluster/exchange/clean_store.ts";
import { EXIT_CODES } from "../../errors.ts";
import { formatBytes } from "../../evaluation/memory/memory_need.ts";
import { THREADS_MAX } from "../../limits.ts";
import { parseByteSize } from "../../text/byte_size.ts";
import { counted } from "../../text/counted.ts";
import { parseResources, type TlsOptions, tlsFiles } from "../eval/cluster_options.ts";
import { type Interruption, interruptionSignal } from "../terminal/interruption.ts";
import { withProgress } from "../terminal/progress.ts";
import { print, printNote } from "../terminal/terminal.ts";
import { formatTable } from "../terminal/text_table.ts";
import { parseCountTo } from "../terminal/whole_number.ts";

interface LocalFlags {
  readonly workers: number;
  readonly resources?: Readonly<Record<string, number>>;
  readonly threads: number;
  readonly memoryLimit?: number;
  readonly workerSaturation?: string;
  readonly python?: string;
}

interface CleanFlags {
  readonly store: string;
  readonly dryRun?: boolean;
  readonly olderThan?: number;
}

interface DoctorFlags extends TlsOptions {
  readonly scheduler: string;
  readonly store?: string;
  readonly python?: string;
  readonly node?: string;
  readonly json?: true;
}

const PYTHON = "Python that has Dask's distributed (default: FACTORLOOM_PYTHON, else the first that has it)";

export function addCluster(program: Command): void {
  const cluster = program
    .command("cluster")
    .description("Dask clusters, to evaluate on many hosts")
    .helpCommand(false);
  cluster
    .command("local")
    .description("a Dask scheduler and workers on this machine, to try it, until Ctrl-C")
    .option("--workers <count>", "worker processes", parseCountTo(THREADS_MAX), 2)
    .option("--threads <count>", "tasks that a worker runs at a time", parseCountTo(THREADS_MAX), 1)
    .option(
      "--memory-limit <size>",
      "memory of a worker with its executors (default: four fifths of the machine's, divided by the workers)",
      parseByteSize,
    )
    .option(
      "--worker-saturation <number>",
      "tasks that a worker is given per thread, others wait on the scheduler; inf: all (default: Dask's, 1.1)",
      parseSaturation,
    )
    .option("--resources <name=number>", "what each worker has, e.g. GPU=1", parseResources)
    .option("--python <path>", PYTHON)
    .action(runLocal);
  cluster
    .command("doctor")
    .description("run a small task on each worker of a cluster, and say what it answers")
    .requiredOption("--scheduler <address>", "of the Dask scheduler, e.g. tcp://host:8786")
    .option("--store <folder>", "folder on storage that client and workers see under the same path")
    .option("--python <path>", PYTHON)
    .option("--node <path>", "Node on the workers (default: FACTORLOOM_NODE there, else node on their PATH)")
    .option("--tls-ca <path>", "certificate of who signed the scheduler's, for tls://host:8786")
    .option("--tls-cert <path>", "certificate that the scheduler knows this client by")
    .option("--tls-key <path>", "key of that certificate")
    .option("--json", "print as JSON")
    .action(runDoctor);
  cluster
    .command("clean")
    .description("remove what runs that ended early have left in a store; running ones keep theirs")
    .requiredOption("--store <folder>", "the store")
    .option("--older-than <time>", "only what was not touched for this time: 30m, 12h, 7d", parseAge)
    .option("--dry-run", "say what would be removed, and remove nothing")
    .action(runClean);
}

function parseSaturation(text: string): string {
  if (text === "inf" || (/^\d{1,9}(\.\d{1,9})?$/.test(text) && Number(text) > 0)) return text;
  throw new InvalidArgumentError("A number above 0, or inf.");
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3600e3, d: 86400e3 };

function parseAge(text: string): number {
  const [, count, unit] = /^(\d{1,6})\s*([smhd])$/.exec(text.trim()) ?? [];
  if (count === undefined || unit === undefined)
    throw new InvalidArgumentError("Write it as 30m, 12h or 7d.");
  return Number(count) * UNIT_MS[unit]!;
}

/** Exit code 130 or 143 if a signal ends it, 2 if the cluster ends by itself; Dask restarts workers that end. */
async function runLocal(flags: LocalFlags): Promise<void> {
  const { startLocalCluster } = await import("../../cluster/deploy/local_cluster.ts");
  const signal = interruptionSignal();
  const interrupted = new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null)));
  await using cluster = await startLocalCluster({ ...flags, signal });
  print(localText(cluster, flags));
  const reason = await Promise.race([cluster.ended, interrupted]);
  if (reason !== null) printNote(`the cluster is gone: ${reason}`);
  process.exitCode = reason === null ? (signal.reason as Interruption).exitCode : EXIT_CODES.resources;
}

function localText({ address, dashboard }: LocalCluster, { workers, threads }: LocalFlags): string {
  return [
    `scheduler   ${address}`,
    `dashboard   ${dashboard ?? "none: install bokeh to see it"}`,
    `workers     ${workers}, each with ${counted(threads, "thread")}`,
    `evaluate    factorloom eval FORMULAS --data BARS --engine dask --scheduler ${address}`,
    "Ctrl-C ends it",
  ].join("\n");
}

/** Exit code 2 if there are problems. */
async function runDoctor({ json, ...options }: DoctorFlags): Promise<void> {
  const { examineCluster } = await import("../../cluster/deploy/doctor.ts");
  const { scheduler, store, python, node } = options;
  const request = { scheduler, store, python, node, tls: tlsFiles(options), signal: interruptionSignal() };
  const health = await withProgress("cluster doctor", () => examineCluster(request));
  print(json ? JSON.stringify(health) : healthText(health));
  if (health.problems.length > 0) process.exitCode = EXIT_CODES.resources;
}

async function runClean({ store, olderThan = 0, dryRun = false }: CleanFlags): Promise<void> {
  const { cleanStore } = await import("../../cluster/exchange/clean_store.ts");
  const folders = await cleanStore(resolve(store), { olderThanMs: olderThan, isTrial: dryRun });
  print(cleanText(folders, dryRun));
}

function cleanText(folders: readonly StoredRun[], isTrial: boolean): string {
  if (folders.length === 0) return "no run has left anything there";
  const rows = folders.map(({ name, bytes, ageMs, fate }) => {
    return [name, formatBytes(bytes), formatAge(ageMs), fate];
  });
  const removed = folders.filter(({ fate }) => fate === "removed" || fate === "would be removed");
  const bytes = removed.reduce((sum, each) => sum + each.bytes, 0);
  return [
    formatTable(["run", "size", "untouched for", ""], rows),
    "",
    `${formatBytes(bytes)} ${isTrial ? "would be freed" : "freed"}`,
  ].join("\n");
}

/** In the largest unit that is not longer than the age. */
function formatAge(ms: number): string {
  const unit = Object.keys(UNIT_MS).findLast((name) => ms >= UNIT_MS[name]!) ?? "s";
  return `${Math.floor(ms / UNIT_MS[unit]!)}${unit}`;
}

export function healthText({ scheduler, dashboard, versions, workers, problems }: ClusterHealth): string {
  const rows = [
    { name: "client", host: hostname(), versions: versions.client, node: process.versions.node },
    { name: "scheduler", versions: versions.scheduler },
    ...workers,
  ].map((each: Partial<ProbedWorker>) => {
    const { name = "", host = "", node = "", factorloom = "", memoryLimitBytes, clockSeconds } = each;
    // Dask reports 0 for no limit.
    const limit = memoryLimitBytes === 0 ? "no limit" : formatBytes(memoryLimitBytes ?? 0);
    const memory = memoryLimitBytes === undefined ? "" : limit;
    const clock = clockSeconds === undefined ? "" : `${clockSeconds.toFixed(1)} s`;
    const { python = "", distributed = "" } = each.versions ?? {};
    const folder = each.hasWritten ? "written" : "";
    return [name, host, python, distributed, node, factorloom, memory, clock, folder];
  });
  return [
    `scheduler ${scheduler}${dashboard === null ? "" : `, dashboard ${dashboard}`}`,
    "",
    formatTable(
      ["", "host", "python", "distributed", "node", "factorloom", "memory", "clock", "folder"],
      rows,
    ),
    "",
    ...(problems.length > 0 ? problems : ["all is well"]),
  ].join("\n");
}
