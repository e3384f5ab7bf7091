import type { Command } from "commander";
import type { Scaling } from "../../bench/scaling/scaling.ts";
import { threadsStarted } from "../../evaluation/threads_of_machine.ts";
import { THREADS_MAX } from "../../limits.ts";
import { countTo } from "../terminal/option_values.ts";
import { withProgress } from "../terminal/progress.ts";
import { print } from "../terminal/terminal.ts";
import { formatTable, tableOf } from "../terminal/text_table.ts";

interface ScalingFlags {
  readonly live?: true;
  readonly lanes: number;
  readonly rows?: number;
  readonly threads?: number;
  readonly json?: true;
}

const ROWS_DEFAULT = { live: 1000, history: 512 };

export function addScaling(bench: Command): void {
  bench
    .command("scaling")
    .description("alpha101 on 1, 2, 4 ... threads: how much faster, and where the rest of their time goes")
    .option("--live", "one row a call, instead of history in blocks")
    .option("--lanes <count>", "instruments", countTo(), 4096)
    .option("--rows <count>", "rows of history (default: 512), or live calls (1000)", countTo())
    .option("--threads <count>", "threads at most (default: one per core)", countTo(THREADS_MAX))
    .option("--json", "print as JSON")
    .action(runScaling);
}

async function runScaling({ lanes, json, ...flags }: ScalingFlags): Promise<void> {
  const { measureScaling } = await import("../../bench/scaling/scaling.ts");
  const live = flags.live === true;
  const rows = flags.rows ?? (live ? ROWS_DEFAULT.live : ROWS_DEFAULT.history);
  const threads = threadsStarted(flags.threads ?? THREADS_MAX);
  const results = await withProgress("scaling", (onProgress) =>
    measureScaling({ live, lanes, rows, threads, onProgress }),
  );
  print(json ? JSON.stringify(results) : scalingText(results));
}

function scalingText(results: readonly Scaling[]): string {
  const kinds = results[0]!.kinds.map(({ kind }) => kind);
  return [
    tableOf(results, {
      threads: ({ threads }) => threads,
      "ms a row": ({ msPerRow }) => figure(msPerRow.mean),
      p50: ({ msPerRow }) => figure(msPerRow.p50),
      p99: ({ msPerRow }) => figure(msPerRow.p99),
      "speed-up": ({ speedup }) => figure(speedup),
      "of ideal": ({ speedup, threads }) => percent(speedup / threads),
      "loops in cache": ({ ceiling }) => figure(ceiling.inCache),
      "from memory": ({ ceiling }) => figure(ceiling.fromMemory),
    }),
    tableOf(results, {
      threads: ({ threads }) => threads,
      "in parts": ({ shares }) => percent(shares.running),
      "no call": ({ shares }) => percent(shares.noRun),
      "no ready part": ({ shares }) => percent(shares.noReady),
      scheduler: ({ shares }) => percent(shares.scheduler),
      waking: ({ shares }) => percent(shares.waking),
      "between parts": ({ shares }) => percent(shares.taking),
    }),
    tableOf(results, {
      threads: ({ threads }) => threads,
      "parts a row": ({ parts }) => figure(parts),
      hops: ({ hops }) => figure(hops),
      sleeps: ({ sleeps }) => figure(sleeps),
      "cores taken": ({ switches }) => figure(switches),
      "scheduler busy": ({ schedulerShare }) => percent(schedulerShare),
      "ns an event": ({ eventNs }) => Math.round(eventNs),
      "main thread": ({ mainShare }) => percent(mainShare),
    }),
    formatTable(
      ["threads", ...kinds.flatMap((kind) => [`${kind}: us a row`, "times one thread's"])],
      results.map((result) => [
        result.threads,
        ...kinds.flatMap((kind) => {
          const { ns, slower } = result.kinds.find((one) => one.kind === kind)!;
          return [Math.round(ns / 1000), figure(slower)];
        }),
      ]),
    ),
  ].join("\n\n");
}

const figure = (value: number): number => Number(value.toPrecision(3));

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
