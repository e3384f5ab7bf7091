import type { Command } from "commander";
import type { Formulas } from "../../src/bench/open_formulas.ts";
import { withProgress } from "../../src/cli/terminal/progress.ts";
import { print } from "../../src/cli/terminal/terminal.ts";
import { formatTable } from "../../src/cli/terminal/text_table.ts";
import { threadsOfMachine } from "../../src/evaluation/threads_of_machine.ts";

type ParseCount = (text: string) => number;

interface ScheduleFlags {
  readonly threads?: number;
  readonly spinUs?: number;
  readonly json?: true;
}

interface ScalingFlags {
  readonly lanes: number;
  readonly rows: number;
  readonly threads?: number;
  readonly json?: true;
}

interface BurstFlags extends ScalingFlags {
  readonly rounds: number;
}

interface TurnFlags extends BurstFlags {
  readonly everyMs: number;
}

interface RestFlags extends Omit<ScalingFlags, "rows"> {
  readonly everyMs: number;
  readonly pushes: number;
  readonly rounds: number;
}

interface BesideFlags extends Omit<ScalingFlags, "rows"> {
  readonly pushes: number;
  readonly everyMs: number;
  readonly histories: number;
}

interface AblationFlags extends ScalingFlags {
  readonly calls: number;
  readonly rounds: number;
}

/** Measurements of the scheduler on real threads. */
export function addScheduleBenches(bench: Command, parseCount: ParseCount): void {
  bench
    .command("schedule")
    .description("what handing out nodes costs: nodes of 0, 5, 20 and 100 us on real threads")
    .option(
      "--threads <count>",
      "executor threads at most (default: one per core, less one from 4 on)",
      parseCount,
    )
    .option("--spin-us <us>", "how long threads look for work before they sleep", parseCount)
    .option("--json", "print as JSON")
    .action(runSchedule);
  bench
    .command("bursts")
    .description("rows of a session that are pushed without awaiting, beside rows one by one, on alpha101")
    .option("--lanes <count>", "instruments", parseCount, 2000)
    .option("--rows <count>", "rows of a burst", parseCount, 100)
    .option("--threads <count>", "threads (default: one per core, less one from 4 on)", parseCount)
    .option("--rounds <count>", "turns", parseCount, 5)
    .option("--json", "print as JSON")
    .action(runBursts);
  bench
    .command("beside")
    .description("pushes of a session alone, and while the same engine evaluates histories of alpha101")
    .option("--lanes <count>", "instruments", parseCount, 2000)
    .option("--pushes <count>", "pushes at most", parseCount, 300)
    .option("--every-ms <ms>", "between two pushes", parseCount, 50)
    .option("--histories <count>", "histories of 400 rows", parseCount, 5)
    .option("--threads <count>", "threads (default: one per core, less one from 4 on)", parseCount)
    .option("--json", "print as JSON")
    .action(runBeside);
  bench
    .command("turns")
    .description("pushes of a session alone, and beside a burst of another one of the same program, alpha101")
    .option("--lanes <count>", "instruments", parseCount, 2000)
    .option("--rows <count>", "rows of a burst", parseCount, 400)
    .option("--rounds <count>", "bursts", parseCount, 3)
    .option("--every-ms <ms>", "between two pushes", parseCount, 5)
    .option("--threads <count>", "threads (default: one per core, less one from 4 on)", parseCount)
    .option("--json", "print as JSON")
    .action(runTurns);
  bench
    .command("rests")
    .description("a push that wants a factor again after many that did not, beside all pushes")
    .option("--lanes <count>", "instruments", parseCount, 512)
    .option("--pushes <count>", "pushes that do not want it", parseCount, 10_000)
    .option("--every-ms <ms>", "between two pushes (default: none)", parseCount, 0)
    .option("--threads <count>", "threads (default: one per core, less one from 4 on)", parseCount)
    .option("--rounds <count>", "turns", parseCount, 5)
    .option("--json", "print as JSON")
    .action(runRests);
  bench
    .command("ablation")
    .description("what each compiler pass and each habit of the scheduler is worth on alpha101")
    .option("--lanes <count>", "instruments", parseCount, 4096)
    .option("--rows <count>", "rows of history", parseCount, 512)
    .option("--calls <count>", "live calls", parseCount, 150)
    .option("--threads <count>", "threads (default: one per core, less one from 4 on)", parseCount)
    .option("--rounds <count>", "turns of each variant", parseCount, 3)
    .option("--json", "print as JSON")
    .action(runAblation);
}

async function runBursts({ threads = threadsOfMachine(), json, ...size }: BurstFlags): Promise<void> {
  const { measureBursts } = await import("../schedule/bursts.ts");
  const formulas = await benchmarkFormulas();
  const bursts = await withProgress("bursts", (onProgress) =>
    measureBursts(formulas, { threads, ...size, onProgress }),
  );
  printFigures(json, bursts, [
    ["rows come", "ms a row", "times one by one", "rows that overlap the one before"],
    bursts.map(({ manner, msPerRow, ratio, overlapping }) => {
      return [manner, figure(msPerRow), figure(ratio), overlapping];
    }),
  ]);
}

async function runTurns({ threads = threadsOfMachine(), json, ...size }: TurnFlags): Promise<void> {
  const { measureTurns } = await import("../schedule/turns.ts");
  const formulas = await benchmarkFormulas();
  const turns = await withProgress("turns", (onProgress) =>
    measureTurns(formulas, { threads, ...size, onProgress }),
  );
  const [alone] = turns;
  printFigures(json, turns, [
    ["", "pushes", "p50 ms", "times alone", "p99 ms", "times alone"],
    turns.map(({ manner, pushes, ms: { p50, p99 } }) => {
      const ratios = [p50 / alone!.ms.p50, p99 / alone!.ms.p99];
      return [manner, pushes, figure(p50), figure(ratios[0]!), figure(p99), figure(ratios[1]!)];
    }),
  ]);
}

async function runRests({ threads = threadsOfMachine(), json, ...size }: RestFlags): Promise<void> {
  const { measureRests } = await import("../schedule/rests.ts");
  const rests = await withProgress("rests", (onProgress) => measureRests({ threads, ...size, onProgress }));
  printFigures(json, rests, [
    ["ten", "catch up", "push p50 ms", "p99 ms", "mean ms", "first ms", "times p50", "nodes left out"],
    rests.map(({ factors, catchUp, ms, firstMs, nodesPruned }) => {
      const figures = [ms.p50, ms.p99, ms.mean, firstMs, firstMs / ms.p50].map(figure);
      return [factors, catchUp, ...figures, nodesPruned];
    }),
  ]);
}

async function runBeside({ threads = threadsOfMachine(), json, ...size }: BesideFlags): Promise<void> {
  const { measureBeside } = await import("../schedule/beside.ts");
  const formulas = await benchmarkFormulas();
  const figures = await withProgress("beside", (onProgress) =>
    measureBeside(formulas, { threads, ...size, onProgress }),
  );
  const { alone, beside, pushes, historyMs, historyBesideMs } = figures;
  printFigures(json, figures, [
    ["", "pushes", "push p50 ms", "p99 ms", "history ms"],
    [
      ["alone", size.pushes, figure(alone.p50), figure(alone.p99), figure(historyMs)],
      ["beside each other", pushes, figure(beside.p50), figure(beside.p99), figure(historyBesideMs)],
    ],
  ]);
}

async function runSchedule({ threads = threadsOfMachine(), spinUs, json }: ScheduleFlags): Promise<void> {
  const { measureSchedules } = await import("../schedule/schedule_cost.ts");
  const spinNs = spinUs === undefined ? undefined : 1000 * spinUs;
  const costs = await withProgress("schedule", (onProgress) =>
    measureSchedules(threads, { spinNs, onProgress }),
  );
  printFigures(json, costs, [
    ["graph", "threads", "nodes", "us a node", "wall ms", "overhead us", "efficiency"],
    costs.map(({ shape, threads: used, nodes, nodeUs, wallMs, overheadUs, efficiency }) => {
      return [shape, used, nodes, nodeUs, figure(wallMs), figure(overheadUs), figure(efficiency)];
    }),
  ]);
}

async function runAblation({ threads = threadsOfMachine(), json, ...size }: AblationFlags): Promise<void> {
  const { measureAblation } = await import("../schedule/ablation.ts");
  const formulas = await benchmarkFormulas();
  const ablations = await withProgress("ablation", (onProgress) =>
    measureAblation(formulas, { threads, ...size, onProgress }),
  );
  printFigures(json, ablations, [
    ["variant", "history ms a row", "times as it is", "live ms", "times as it is"],
    ablations.map((ablation) => {
      const { variant, historyMsPerRow, historyRatio, liveMsP50, liveRatio } = ablation;
      return [variant, ...[historyMsPerRow, historyRatio, liveMsP50, liveRatio].map(figure)];
    }),
  ]);
}

/** The formulas of `bench history-alpha101`. */
async function benchmarkFormulas(): Promise<Formulas> {
  const { defaultFormulas } = await import("../../src/bench/workloads.ts");
  return defaultFormulas("alpha101");
}

function printFigures(
  json: true | undefined,
  results: unknown,
  [header, rows]: readonly [readonly string[], readonly (readonly (string | number)[])[]],
): void {
  print(json ? JSON.stringify(results) : formatTable(header, rows));
}

const figure = (value: number): number => Number(value.toPrecision(3));
