import type { Command } from "commander";
import { parseNames } from "../../src/cli/terminal/option_values.ts";
import { withProgress } from "../../src/cli/terminal/progress.ts";
import { print } from "../../src/cli/terminal/terminal.ts";
import { formatTable } from "../../src/cli/terminal/text_table.ts";
import { formatBytes } from "../../src/evaluation/memory/memory_need.ts";
import { threadsOfMachine } from "../../src/evaluation/threads_of_machine.ts";
import { counted } from "../../src/text/counted.ts";
import type { TradingDay } from "../trading_day.ts";

interface DayFlags {
  readonly lanes: number;
  readonly warmUp: number;
  readonly pushes: number;
  readonly threads?: number;
  readonly select?: readonly string[];
  readonly json?: true;
}

/** A trading day of a session. */
export function addDay(bench: Command, parseCount: (text: string) => number): void {
  bench
    .command("day")
    .description("a trading day of a session over alpha101: how long pushes take, how the process grows")
    .option("--lanes <count>", "instruments", parseCount, 4096)
    .option("--warm-up <rows>", "rows that the session is opened with", parseCount, 1000)
    .option("--pushes <count>", "pushes of one bar, 60 an hour", parseCount, 1440)
    .option("--threads <count>", "threads (default: one per core, less one from 4 on)", parseCount)
    .option("--select <names>", "only these factors, e.g. alpha001,alpha002", parseNames)
    .option("--json", "print as JSON")
    .action(runDay);
}

async function runDay(flags: DayFlags): Promise<void> {
  const { threads = threadsOfMachine(), lanes, warmUp: warmUpRows, pushes, select, json } = flags;
  const { measureTradingDay } = await import("../trading_day.ts");
  const { publishedText } = await import("../../src/bench/open_formulas.ts");
  const formulas = { name: "alpha101.factors", text: publishedText("alpha101"), select };
  const day = await withProgress("day", (onProgress) =>
    measureTradingDay(formulas, { lanes, threads, warmUpRows, pushes, onProgress }),
  );
  print(json ? JSON.stringify(day) : dayText(day));
}

function dayText(day: TradingDay): string {
  const { factors, lanes, threads, warmUpRows, collections } = day;
  const hours = day.hours.map(({ pushes, p50, p99, max, residentBytes }, hour) => {
    return [hour + 1, pushes, ...[p50, p99, max].map(msText), formatBytes(residentBytes)];
  });
  const { stage, run, table } = day.stageMs;
  const { p50, p99, p999, max } = day.msPerPush;
  const facts = [
    ["open, with the warm-up", `${msText(day.openMs)} ms`],
    ["first push", `${msText(day.firstPushMs)} ms`],
    ["push, p50", `${msText(p50)} ms: bar ${msText(stage)}, factors ${msText(run)}, table ${msText(table)}`],
    ["push, p99, p99.9, max", `${[p99, p999, max].map(msText).join(", ")} ms`],
    ["resident size, last hour", `${(100 * day.residentGrowth).toFixed(2)} % more than after the first`],
    [
      "collections, main thread",
      `${collections.count}, ${msText(collections.longestMs)} ms at most, ${collections.slowPushes} slow pushes by them`,
    ],
    ["machine", `${counted(day.cores, "core")}, ${day.cpu}, Node ${day.node}`],
  ];
  const warmUp = `after ${counted(warmUpRows, "row")} of warm-up`;
  return [
    `${counted(factors, "factor")}, ${counted(lanes, "lane")}, ${counted(threads, "thread")}, ${warmUp}`,
    "",
    formatTable(["hour", "pushes", "p50 ms", "p99 ms", "max ms", "resident"], hours),
    "",
    formatTable(["", ""], facts).trimStart(),
  ].join("\n");
}

function msText(ms: number): string {
  return String(Number(ms.toPrecision(3)));
}
