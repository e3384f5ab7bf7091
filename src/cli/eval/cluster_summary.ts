import { hangText } from "../../cluster/bridge/cluster_hang.ts";
import type { Cluster } from "../../cluster/client/cluster.ts";
import type { ClusterRun } from "../../cluster/client/cluster_run.ts";
import { formatBytes } from "../../evaluation/memory/memory_need.ts";
import { counted } from "../../text/counted.ts";
import { tableOf } from "../terminal/text_table.ts";

/** Summarises a run on a cluster and the work of every worker. */
export function summariseCluster({ info, scheduler }: Cluster, { job, report, restarts, hangs }: ClusterRun) {
  const { shares, slabRows } = job.cut;
  return {
    scheduler,
    dashboard: info.dashboard,
    slabs: slabRows.length - 1,
    /** Factors that are evaluated together; without warm-up over all rows. */
    shares: shares.map(({ factors, warmUpRows }) => ({ factors: factors.length, warmUpRows })),
    runsBegunAnew: restarts,
    hangs,
    workersJoined: report?.joined ?? 0,
    workersGone: report?.gone ?? 0,
    workers: (report?.workers ?? []).map(({ job: ofJob, ...worker }) => ({ ...worker, ...ofJob?.counters })),
  };
}

export type ClusterSummary = ReturnType<typeof summariseCluster>;

/** One line per worker. `written` counts parts and column files, `read again` the column files that joins read. */
export function clusterText(summary: ClusterSummary): string {
  const table = tableOf(summary.workers, {
    worker: ({ address }) => address,
    tasks: ({ tasks = 0 }) => tasks,
    busy: ({ seconds = 0 }) => `${seconds.toFixed(2)} s`,
    written: ({ bytesWritten = 0 }) => formatBytes(bytesWritten),
    "read again": ({ bytesRead = 0 }) => formatBytes(bytesRead),
    managed: ({ managedBytes }) => formatBytes(managedBytes),
    unmanaged: ({ unmanagedBytes }) => formatBytes(unmanagedBytes),
    spilled: ({ spilledBytes }) => formatBytes(spilledBytes),
    peak: ({ workerBytesMax = 0 }) => formatBytes(workerBytesMax),
    executors: ({ executorBytesMax = 0 }) => formatBytes(executorBytesMax),
    stolen: ({ stolenBy }) => stolenBy,
    replicated: ({ replicatedKeys }) => replicatedKeys,
    restarts: ({ executorRestarts = 0 }) => executorRestarts,
  });
  const { slabs, shares, workersGone, runsBegunAnew, dashboard } = summary;
  const lost =
    workersGone > 0 ? `; ${counted(workersGone, "worker")} lost, ${summary.workersJoined} joined` : "";
  const histories = shares.filter(({ warmUpRows }) => warmUpRows === null).length;
  const overAll = histories > 0 ? `, ${histories} of them over all rows` : "";
  const again = runsBegunAnew > 0 ? `; the run began again ${counted(runsBegunAnew, "time")}` : "";
  return [
    "",
    table,
    "",
    `cluster: ${summary.scheduler}, ${counted(slabs, "slab")}, ${counted(shares.length, "group")} of factors${overAll}${lost}${again}`,
    ...summary.hangs.map((hang) => `hang: ${hangText(hang)}`),
    ...(dashboard === null ? [] : [`dashboard: ${dashboard}`]),
  ].join("\n");
}
