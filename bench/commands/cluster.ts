import type { Command } from "commander";
import { formatMs, withProgress } from "../../src/cli/terminal/progress.ts";
import { print } from "../../src/cli/terminal/terminal.ts";
import { formatTable } from "../../src/cli/terminal/text_table.ts";
import { formatBytes } from "../../src/evaluation/memory/memory_need.ts";
import { counted } from "../../src/text/counted.ts";
import type { AgainstLocalResult } from "../cluster/against_local.ts";

interface ClusterFlags {
  readonly lanes: number;
  readonly rows: number;
  readonly formulas: string;
  readonly workers: number;
  readonly json?: true;
}

export function addClusterBench(bench: Command, parseCount: (text: string) => number): void {
  bench
    .command("cluster")
    .description("a job on a loopback Dask cluster beside the same on this machine's threads")
    .option("--lanes <count>", "instruments", parseCount, 2000)
    .option("--rows <count>", "times of the panel", parseCount, 3500)
    .option("--formulas <set>", "alpha101, alpha158, alpha360 or gtja191", "alpha101")
    .option("--workers <count>", "workers, and local threads", parseCount, 2)
    .option("--json", "print as JSON")
    .action(runCluster);
}

async function runCluster({ json, ...flags }: ClusterFlags): Promise<void> {
  const { measureAgainstLocal } = await import("../cluster/against_local.ts");
  const result = await withProgress("cluster", (onProgress) => measureAgainstLocal({ ...flags, onProgress }));
  print(json ? JSON.stringify(result) : againstLocalText(result));
}

function againstLocalText(result: AgainstLocalResult): string {
  const { formulas, factors, lanes, rows, workers, localMs, resultBytes, runs } = result;
  const lines = runs.map(({ form, conversionMs, wallMs, ratio, tasks, busySeconds }) => {
    const conversion = conversionMs > 0 ? formatMs(conversionMs) : "";
    return [form, conversion, formatMs(wallMs), ratio.toFixed(2), tasks, `${busySeconds.toFixed(1)} s`];
  });
  return [
    `${formulas}: ${counted(factors, "factor")}, ${counted(lanes, "lane")} x ${counted(rows, "row")}, ${formatBytes(resultBytes)} of results`,
    `local, ${counted(workers, "thread")}: ${formatMs(localMs)}; ${counted(workers, "worker")} with one executor each:`,
    "",
    formatTable(["", "conversion", "wall", "of local", "tasks", "busy"], lines),
  ].join("\n");
}
