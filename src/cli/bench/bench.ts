import type { Command } from "commander";
import type { BenchResult } from "../../bench/result.ts";
import type { BenchOptions, Workload } from "../../bench/workloads.ts";
import { UsageError } from "../../errors.ts";
import { formatBytes } from "../../evaluation/memory/memory_need.ts";
import { BLOCK_ROWS_MAX, THREADS_MAX } from "../../limits.ts";
import { counted } from "../../text/counted.ts";
import { suggestion } from "../../text/suggest.ts";
import { flagOf } from "../terminal/command_line.ts";
import { countTo, numberWhere, someNames } from "../terminal/option_values.ts";
import { withProgress } from "../terminal/progress.ts";
import { print } from "../terminal/terminal.ts";
import { formatTable } from "../terminal/text_table.ts";
import { addBudget } from "./budget.ts";
import { addCalibrate } from "./calibrate.ts";
import { addCompare } from "./compare.ts";
import { addScaling } from "./scaling.ts";

export function addBench(program: Command): Command {
  // Options belong to the command that they stand behind: some commands below this one have the same ones.
  const bench = program
    .enablePositionalOptions()
    .command("bench")
    .description("measure speed on made-up bars; without a name: list what can be measured")
    .argument("[name]", "a workload")
    .option("--lanes <count>", "instruments (default: 4096)", countTo())
    .option("--rows <count>", "times of the panel (default: 1024)", countTo())
    .option(
      "--threads <count>",
      "executor threads (default: one per core, less one from 4 on)",
      countTo(THREADS_MAX),
    )
    .option("--select <names>", "only these factors, e.g. alpha001,alpha002", someNames("factor"))
    .option("--nulls <share>", "share of bars that are missing (default: 0.01, alpha101: 0)", parseShare)
    .option("--block-rows <count>", "times that are computed together", countTo(BLOCK_ROWS_MAX))
    .option("--calls <count>", "live calls that are measured (default: 300)", countTo())
    .option("--json", "print as JSON, with a digest of every factor")
    .enablePositionalOptions()
    .helpCommand(false)
    .action(runBench);
  addCalibrate(bench);
  addBudget(bench);
  addCompare(bench);
  addScaling(bench);
  return bench;
}

async function runBench(
  name: string | undefined,
  { json, ...options }: BenchOptions & { readonly json?: true },
): Promise<void> {
  const { WORKLOADS, runWorkload } = await import("../../bench/workloads.ts");
  if (name === undefined) {
    const list = WORKLOADS.map((workload) => ({ name: workload.name, summary: workload.summary }));
    const rows = list.map((workload) => [workload.name, workload.summary]);
    print(json ? JSON.stringify(list) : formatTable(["workload", "what it measures"], rows));
    return;
  }
  const workload = findWorkload(WORKLOADS, name);
  refuseOptions(workload, options);
  const result = await withProgress(name, (onProgress) => runWorkload(workload, options, { onProgress }));
  print(json ? JSON.stringify(result) : resultText(result));
}

function findWorkload(workloads: readonly Workload[], name: string): Workload {
  const names = workloads.map((workload) => workload.name);
  const found = workloads.find((workload) => workload.name === name);
  if (found) return found;
  const remedy = suggestion(name, names, "`factorloom bench` lists all");
  throw new UsageError("E506", `no workload ${name}`, remedy);
}

/** An option that changes nothing would let two different measurements look alike. */
function refuseOptions({ name, takes }: Workload, options: BenchOptions): void {
  for (const option of Object.keys(options)) {
    if (takes.some((taken) => taken === option)) continue;
    const remedy = `it takes ${takes.map(flagOf).join(", ")}`;
    throw new UsageError("E527", `${name} knows no ${flagOf(option)}`, remedy);
  }
}

/** The figures, one a line. */
function resultText(result: BenchResult): string {
  const { workload, factors, lanes, rows, threads, blockRows, parts } = result;
  const shape = `${counted(factors, "factor")}, ${counted(lanes, "lane")} x ${counted(rows, "row")}`;
  const cut = `${counted(threads, "thread")}, blocks of ${blockRows}`;
  const facts = [
    ["wall time", formatMs(result.wallMs)],
    ...Object.entries(result.msPerRow ?? {}).map(([name, ms]) => [`a row, ${name}`, formatMs(ms)]),
    ...(result.runMs && result.runMs.length > 1 ? [["of runs", runsText(result.runMs)]] : []),
    ...(result.warmUpMsPerRow
      ? [
          [
            "the warm-up's, p50 and p99",
            `${formatMs(result.warmUpMsPerRow.p50)}, ${formatMs(result.warmUpMsPerRow.p99)}`,
          ],
        ]
      : []),
    ...(result.cellsPerSecond === null
      ? []
      : [["output cells", `${(Math.round(result.cellsPerSecond / 1000) / 1000).toLocaleString("en")} M/s`]]),
    ["text to first call", formatMs(result.readyMs)],
    ["of which kernels", formatMs(result.kernelMs)],
    ["columns and state", formatBytes(result.arenaBytes)],
    ["of which state", formatBytes(result.stateBytes)],
    ["peak resident size", formatBytes(result.peakRssBytes)],
    ["digest", result.digest],
    ["machine", `${result.cores} cores, ${result.cpu}, Node ${result.node}`],
  ];
  return [
    `${workload}: ${shape}, ${cut}`,
    "",
    ...(parts ? [partsText(parts), ""] : []),
    formatTable(["", ""], facts).trimStart(),
  ].join("\n");
}

function runsText(runMs: readonly number[]): string {
  const [least, most] = [Math.min(...runMs), Math.max(...runMs)].map(formatMs);
  return `${runMs.length}, from ${least} to ${most}`;
}

function partsText(parts: NonNullable<BenchResult["parts"]>): string {
  const header = Object.keys(parts[0] ?? {});
  const rows = parts.map((part) => {
    return Object.values(part).map((value) =>
      typeof value === "number" ? Number(value.toPrecision(4)) : value,
    );
  });
  return formatTable(header, rows);
}

function formatMs(ms: number): string {
  return ms < 1000 ? `${Number(ms.toPrecision(4))} ms` : `${(ms / 1000).toFixed(2)} s`;
}

const parseShare = numberWhere(
  /^\d*\.?\d+$/,
  (share) => share >= 0 && share < 1,
  "A share such as 0.01, from 0 and below 1.",
);
