import { stat } from "node:fs/promises";
import { Cluster, type ClusterPanel, sharedPanel } from "../../cluster/client/cluster.ts";
import type { ClusterRun } from "../../cluster/client/cluster_run.ts";
import { noAddress } from "../../cluster/protocol/errors.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import type { PanelSourceOptions } from "../../data/source/source_options.ts";
import { type ClusterFlags, tlsFiles } from "./cluster_options.ts";
import { summariseCluster } from "./cluster_summary.ts";
import type { EvalResult } from "./eval_summary.ts";

/** Connects to the cluster that the options name. @throws as `Cluster.connect`. */
export async function connectCluster(options: ClusterFlags, signal: AbortSignal): Promise<Cluster> {
  const { scheduler = process.env["DASK_SCHEDULER_ADDRESS"], python, node, workers, resources } = options;
  if (scheduler === undefined) throw noAddress();
  return await Cluster.connect({
    scheduler,
    tls: tlsFiles(options),
    python,
    node,
    workers,
    resources,
    taskTimeoutSeconds: options.taskTimeout,
    timeoutSeconds: options.timeout,
    signal,
  });
}

/** The bars of a run: the path that workers read, or null if the client sends the values. */
export async function clusterPanel(
  source: PanelSource,
  data: string,
  options: PanelSourceOptions,
  scatter: boolean,
): Promise<ClusterPanel> {
  const panel = sharedPanel(source, data, options);
  // Every worker would have to read a text file as a whole.
  const isText = !(await stat(data)).isDirectory() && /\.(csv|tsv)(\.gz)?$/i.test(data);
  return scatter || isText ? { ...panel, path: null } : panel;
}

/** The result of a run, with a summary of its workers. */
export function clusterResult(
  cluster: Cluster,
  run: ClusterRun,
  counts: Omit<EvalResult, "wanted" | "cluster">,
): EvalResult {
  return { wanted: run.wanted, ...counts, cluster: summariseCluster(cluster, run) };
}

/** Runs an evaluation whose results workers write; returns their counts. @throws as `ClusterRun.blocks`. */
export async function writtenByWorkers(run: ClusterRun): Promise<Omit<EvalResult, "wanted" | "cluster">> {
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
