import { tmpdir } from "node:os";
import { resolve } from "node:path";
import type { Command } from "commander";
import { withProgress } from "../../src/cli/terminal/progress.ts";
import { print } from "../../src/cli/terminal/terminal.ts";
import { formatTable } from "../../src/cli/terminal/text_table.ts";
import { formatMs } from "../../src/cli/trace/steps.ts";
import { formatBytes } from "../../src/evaluation/memory/memory_need.ts";
import { counted } from "../../src/text/counted.ts";
import type { AgainstLocalResult } from "../cluster/against_local.ts";
import type { ExchangeResult } from "../cluster/exchange.ts";

interface ClusterFlags {
  readonly lanes: number;
  readonly rows: number;
  readonly formulas: string;
  readonly workers: number;
  readonly store?: string;
  readonly json?: true;
}

interface ExchangeFlags {
  readonly shards: number;
  readonly blocks: number;
  readonly mebibytes: number;
  readonly workers: number;
  readonly store?: string;
  readonly json?: true;
}

export function addClusterBenches(bench: Command, parseCount: (text: string) => number): void {
  bench
    .command("cluster")
    .description("a job on a loopback Dask cluster beside the same on this machine's threads")
    .option("--lanes <count>", "instruments", parseCount, 2000)
    .option("--rows <count>", "times of the panel", parseCount, 3000)
    .option("--formulas <set>", "alpha101, alpha158, alpha360 or gtja191", "alpha101")
    .option("--workers <count>", "workers, and local threads", parseCount, 2)
    .option("--store <folder>", "where tiles go (default: the folder for temporary files)")
    .option("--json", "print as JSON")
    .action(runCluster);
  bench
    .command("exchange")
    .description("shards of lanes into blocks of rows through a tile store, on a loopback Dask cluster")
    .option("--shards <count>", "tasks that write", parseCount, 200)
    .option("--blocks <count>", "tasks that read a piece of each", parseCount, 200)
    .option("--mebibytes <count>", "of a tile", parseCount, 8)
    .option("--workers <count>", "workers", parseCount, 2)
    .option("--store <folder>", "where tiles go (default: the folder for temporary files)")
    .option("--json", "print as JSON")
    .action(runExchange);
}

async function runCluster({ json, store, ...flags }: ClusterFlags): Promise<void> {
  const { measureAgainstLocal } = await import("../cluster/against_local.ts");
  const options = { ...flags, store: resolve(store ?? tmpdir()), cuts: ["slabs", "stages"] as const };
  const result = await withProgress("cluster", (onProgress) =>
    measureAgainstLocal({ ...options, onProgress }),
  );
  print(json ? JSON.stringify(result) : againstLocalText(result));
}

async function runExchange({ json, store, ...flags }: ExchangeFlags): Promise<void> {
  const { measureExchange } = await import("../cluster/exchange.ts");
  const options = { ...flags, store: resolve(store ?? tmpdir()) };
  const result = await withProgress("exchange", (onProgress) => measureExchange({ ...options, onProgress }));
  print(json ? JSON.stringify(result) : exchangeText(result));
}

function againstLocalText({
  formulas,
  factors,
  lanes,
  rows,
  workers,
  localMs,
  runs,
}: AgainstLocalResult): string {
  const lines = runs.map(({ cut, wallMs, ratio, tasks, busySeconds, bytesRead, bytesWritten }) => {
    const moved = [formatBytes(bytesRead), formatBytes(bytesWritten)];
    return [cut, formatMs(wallMs), ratio.toFixed(2), tasks, `${busySeconds.toFixed(1)} s`, ...moved];
  });
  return [
    `${formulas}: ${counted(factors, "factor")}, ${counted(lanes, "lane")} x ${counted(rows, "row")}, Parquet in, Parquet out`,
    `local, ${counted(workers, "thread")}: ${formatMs(localMs)}; ${counted(workers, "worker")} with one executor each:`,
    "",
    formatTable(["cut", "wall", "of local", "tasks", "busy", "tiles read", "tiles written"], lines),
  ].join("\n");
}

function exchangeText(result: ExchangeResult): string {
  const { shards, blocks, mebibytes, workers, store, tasks, wallMs, taskMs, movedBytes } = result;
  return [
    `${counted(shards, "shard")} of ${mebibytes} MiB into ${counted(blocks, "block")}, ${counted(workers, "worker")}, tiles in ${store}`,
    `${counted(tasks, "task")} in ${formatMs(wallMs)}; executors were busy for ${formatMs(taskMs)} in all, ${formatBytes(movedBytes)} read and written`,
  ].join("\n");
}
