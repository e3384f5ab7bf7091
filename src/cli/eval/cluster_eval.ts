import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { ClusterPanel } from "../../cluster/client/cluster.ts";
import type { ClusterRun } from "../../cluster/client/cluster_run.ts";
import { REMOVED_OPTIONS } from "../../cluster/client/options.ts";
import { noAddress } from "../../cluster/protocol/errors.ts";
import { counted } from "../../text/counted.ts";
import { addFlags, refuseFlag } from "../opening/option_flags.ts";
import type { Opened } from "../opening/with_program.ts";
import { flagOf } from "../terminal/command_line.ts";
import { countTo, someNames } from "../terminal/option_values.ts";
import { addConnectionFlags, type ConnectionFlags, parseResources, tlsFiles } from "./cluster_flags.ts";
import { summariseCluster } from "./cluster_summary.ts";
import type { EvalResult } from "./eval_summary.ts";
import { isFolderName } from "./outputs.ts";
import { type EvalRun, printResult, withEvaluation, writeBlocks } from "./result.ts";
import { addResultFlags, type ResultFlags } from "./result_flags.ts";

interface ClusterEvalFlags extends ResultFlags, ConnectionFlags {
  readonly scatter?: true;
  readonly slabRows?: number;
  readonly workers?: string[];
  readonly resources?: Readonly<Record<string, number>>;
  readonly taskTimeout?: number;
  readonly timeout?: number;
}

export function addClusterEval(cluster: Command): void {
  const command = cluster
    .command("eval")
    .description("evaluate a formula file over a table of bars on a Dask cluster, with the bits of eval")
    .argument("[file]", "formula file, - for stdin")
    .requiredOption("--data <path>", "bars, as for eval; workers read the same path, unless --scatter")
    .option("--scheduler <url>", "of Dask, e.g. tcp://host:8786 (default: DASK_SCHEDULER_ADDRESS)");
  addConnectionFlags(command)
    .option("--scatter", "bring the bars to workers that do not see the file")
    .option("--slab-rows <count>", "times of a task", countTo())
    .option("--workers <names>", "only these workers or hosts, e.g. host1,host2", someNames("worker"))
    .option("--resources <name=number>", "what workers must have, e.g. BIG=1", parseResources)
    .option(
      "--task-timeout <seconds>",
      "a task that takes longer is started again (default: 50 times its estimate, at least 120)",
      countTo(),
    )
    .option(
      "--timeout <seconds>",
      "for the whole start, until workers are ready; then how long none may be there (default: 30)",
      countTo(),
    );
  addFlags(command, "factorloom cluster eval");
  addResultFlags(
    command,
    "write .arrow, .parquet, .csv, .csv.gz, or a folder/ of Parquet files; - for stdout",
  );
  command.action(evaluateOnCluster);
  for (const [name, { remedy }] of REMOVED_OPTIONS)
    refuseFlag(command, `${flagOf(name)} [value]`, `${flagOf(name)} no longer exists`, remedy);
  for (const flag of ["--report <path>", "--causes"])
    refuseFlag(
      command,
      flag,
      `${flag.split(" ")[0]} is not possible on a cluster`,
      "leave it out, or evaluate here: factorloom eval",
    );
}

async function evaluateOnCluster(file: string | undefined, flags: ClusterEvalFlags): Promise<void> {
  const openReport = async () => null;
  await withEvaluation("factorloom cluster eval", file, flags, openReport, async (run) =>
    printResult(run, await evaluate(run, flags)),
  );
}

async function evaluate(run: EvalRun, flags: ClusterEvalFlags): Promise<EvalResult> {
  const { opened, trace } = run;
  const { program, steps, signal } = opened;
  const { scheduler = process.env["DASK_SCHEDULER_ADDRESS"], python, node, workers, resources, out } = flags;
  if (scheduler === undefined) throw noAddress();
  const { Cluster } = await import("../../cluster/client/cluster.ts");
  const cluster = await steps.run("connect", () =>
    Cluster.connect({
      scheduler,
      tls: tlsFiles(flags),
      python,
      node,
      workers,
      resources,
      taskTimeoutSeconds: flags.taskTimeout,
      timeoutSeconds: flags.timeout,
      signal,
    }),
  );
  try {
    return await steps.run("evaluate", async () => {
      const panel = await clusterPanel(opened, flags.scatter === true);
      const dataset = out !== undefined && isFolderName(out) ? resolve(out) : null;
      const { onProgress: _, ...call } = opened.callOf(program);
      const opening = {
        ...call,
        ...(flags.slabRows === undefined ? {} : { slabRows: flags.slabRows }),
        trace: trace !== null,
        onTasks: ({ done, total }: { readonly done: number; readonly total: number }) =>
          steps.show(done / Math.max(1, total), counted(total, "task")),
      };
      const clusterRun = await cluster.openRun(program, panel, opening, dataset);
      try {
        const { wanted } = clusterRun;
        const counts =
          dataset === null
            ? await writeBlocks(run, wanted, clusterRun.blocks())
            : await writtenByWorkers(clusterRun);
        trace?.workers(clusterRun.report);
        return { wanted, ...counts, cluster: summariseCluster(cluster, clusterRun) };
      } finally {
        await clusterRun.close();
      }
    });
  } finally {
    // After an interruption the cluster's work is cancelled, and errors of that are ignored.
    await (signal.aborted ? cluster.close().catch(() => {}) : cluster.close());
  }
}

/** The bars of a run: the path that workers read, or null if the client sends the values. */
async function clusterPanel({ source, path, specs }: Opened, isScattered: boolean): Promise<ClusterPanel> {
  const { sharedPanel } = await import("../../cluster/client/cluster.ts");
  const panel = sharedPanel(source, path, specs.source);
  // Every worker would have to read a text file as a whole.
  const isText = !(await stat(path)).isDirectory() && /\.(csv|tsv)(\.gz)?$/i.test(path);
  return isScattered || isText ? { ...panel, path: null } : panel;
}

/** Runs an evaluation whose results workers write; returns their counts. @throws as `ClusterRun.blocks`. */
async function writtenByWorkers(run: ClusterRun): Promise<Omit<EvalResult, "wanted" | "cluster">> {
  for await (const _ of run.blocks());
  const { counts, wanted } = run;
  const byName = (numbers: readonly number[]) =>
    new Map(wanted.factors.map(({ name }, factor) => [name, numbers[factor] as number]));
  return {
    rowCount: counts.rowCount,
    nullCounts: byName(counts.nulls),
    nonFiniteCounts: byName(counts.nonFinite),
    shownRows: null,
    statistics: null,
  };
}
