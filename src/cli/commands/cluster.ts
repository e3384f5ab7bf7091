import { hostname } from "node:os";
import { type Command, InvalidArgumentError } from "commander";
import type { ProbedWorker } from "../../cluster/bridge/bridge.ts";
import type { ClusterHealth } from "../../cluster/deploy/doctor.ts";
import type { LocalCluster } from "../../cluster/deploy/local_cluster.ts";
import { EXIT_CODES } from "../../errors.ts";
import { formatBytes } from "../../evaluation/memory/memory_need.ts";
import { THREADS_MAX } from "../../limits.ts";
import { parseByteSize } from "../../text/byte_size.ts";
import { counted } from "../../text/counted.ts";
import { notAnOption } from "../../text/option_kinds.ts";
import { addClusterEval } from "../eval/cluster_eval.ts";
import {
  addConnectionFlags,
  type ConnectionFlags,
  PYTHON,
  parseResources,
  tlsFiles,
} from "../eval/cluster_flags.ts";
import { refuseFlag } from "../opening/option_flags.ts";
import { type Interruption, interruptionSignal } from "../terminal/interruption.ts";
import { countTo } from "../terminal/option_values.ts";
import { withProgress } from "../terminal/progress.ts";
import { print, printNote } from "../terminal/terminal.ts";
import { tableOf } from "../terminal/text_table.ts";

interface LocalFlags {
  readonly workers: number;
  readonly resources?: Readonly<Record<string, number>>;
  readonly threads: number;
  readonly memoryLimit?: number;
  readonly workerSaturation?: string;
  readonly python?: string;
}

interface DoctorFlags extends ConnectionFlags {
  readonly scheduler: string;
  readonly out?: string;
  readonly json?: true;
}

export function addCluster(program: Command): void {
  const cluster = program
    .command("cluster")
    .description("Dask clusters, to evaluate on many hosts")
    .helpCommand(false);
  cluster
    .command("local")
    .description("a Dask scheduler and workers on this machine, to try it, until Ctrl-C")
    .option("--workers <count>", "worker processes", countTo(THREADS_MAX), 2)
    .option("--threads <count>", "tasks that a worker runs at a time", countTo(THREADS_MAX), 1)
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
  addClusterEval(cluster);
  const doctor = cluster
    .command("doctor")
    .description("run a small task on each worker of a cluster, and say what it answers")
    .requiredOption("--scheduler <address>", "of the Dask scheduler, e.g. tcp://host:8786")
    .option(
      "--out <folder>",
      "a folder that exists, for results: try whether client and workers can write there",
    );
  addConnectionFlags(doctor).option("--json", "print as JSON").action(runDoctor);
  refuseFlag(
    doctor,
    "--store [folder]",
    "--store no longer exists",
    "give --out FOLDER, the folder in which workers are to write the result",
  );
  cluster
    .command("clean", { hidden: true })
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => {
      const remedy =
        "a run leaves files in the folder of --out only: run it again to complete them, or delete the folder";
      throw notAnOption("cluster clean no longer exists", remedy);
    });
}

function parseSaturation(text: string): string {
  if (text === "inf" || (/^\d{1,9}(\.\d{1,9})?$/.test(text) && Number(text) > 0)) return text;
  throw new InvalidArgumentError("A number above 0, or inf.");
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
    `evaluate    factorloom cluster eval FORMULAS --data BARS --scheduler ${address}`,
    "Ctrl-C ends it",
  ].join("\n");
}

/** Exit code 2 if there are problems. */
async function runDoctor({ json, ...options }: DoctorFlags): Promise<void> {
  const { examineCluster } = await import("../../cluster/deploy/doctor.ts");
  const { scheduler, out, python, node } = options;
  const request = { scheduler, out, python, node, tls: tlsFiles(options), signal: interruptionSignal() };
  const health = await withProgress("cluster doctor", () => examineCluster(request));
  print(json ? JSON.stringify(health) : healthText(health));
  if (health.problems.length > 0) process.exitCode = EXIT_CODES.resources;
}

export function healthText({ scheduler, dashboard, versions, workers, problems }: ClusterHealth): string {
  const rows = [
    { name: "client", host: hostname(), versions: versions.client, node: process.versions.node },
    { name: "scheduler", versions: versions.scheduler },
    ...workers,
  ];
  const table = tableOf<Partial<ProbedWorker>>(rows, {
    "": ({ name = "" }) => name,
    host: ({ host = "" }) => host,
    python: (each) => each.versions?.python ?? "",
    distributed: (each) => each.versions?.distributed ?? "",
    node: ({ node = "" }) => node,
    factorloom: ({ factorloom = "" }) => factorloom,
    // Dask reports 0 for no limit.
    memory: ({ memoryLimitBytes: bytes }) =>
      bytes === 0 ? "no limit" : bytes === undefined ? "" : formatBytes(bytes),
    clock: ({ clockSeconds }) => (clockSeconds === undefined ? "" : `${clockSeconds.toFixed(1)} s`),
    folder: ({ hasWritten }) => (hasWritten ? "written" : ""),
  });
  return [
    `scheduler ${scheduler}${dashboard === null ? "" : `, dashboard ${dashboard}`}`,
    "",
    table,
    "",
    ...(problems.length > 0 ? problems : ["all is well"]),
  ].join("\n");
}
