import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { withProgress } from "../../src/cli/terminal/progress.ts";
import { print } from "../../src/cli/terminal/terminal.ts";
import { formatTable } from "../../src/cli/terminal/text_table.ts";
import { formatBytes } from "../../src/evaluation/memory/memory_need.ts";
import { writing } from "../../src/files/writing.ts";
import { counted } from "../../src/text/counted.ts";
import type { Figures } from "../simulation/figures.ts";
import type { Study, StudyOptions } from "../simulation/study.ts";

/** As many as a schedule is simulated for. */
const EXECUTORS_MAX = 1000;

const EXECUTORS_DEFAULT = [1, 2, 4, 8, 16, 32, 64, 128, 200];

interface SimulateFlags extends Partial<Omit<StudyOptions, "executors" | "isStealing">> {
  readonly executors?: readonly number[];
  readonly stealing: boolean;
  readonly out?: string;
  readonly json?: true;
}

export function addSimulate(bench: Command, parseCount: (text: string) => number): void {
  bench
    .command("simulate")
    .description("what the scheduler makes of a graph on any number of executors, on a simulated clock")
    .option("--graph <name>", "a plan of a published set, all of them (default), or a random graph")
    .option("--executors <counts>", "e.g. 1,8,64 (default: 1 to 200)", parseExecutors)
    .option("--blocks <count>", "runs of the graph, which overlap (default: 1)", parseCount)
    .option("--lanes <count>", "instruments of a plan (default: 5000)", parseCount)
    .option("--block-rows <count>", "rows of a plan's blocks (default: 64)", parseCount)
    .option("--order <name>", "which ready node goes first (default: critical-path)")
    .option("--no-stealing", "idle executors take nothing over")
    .option("--queue-ns <ns>", "work that a queue should hold (default: 3000000)", parseNumber)
    .option("--queue-parts-min <count>", "parts that a queue holds at least (default: 2)", parseCount)
    .option("--machine <end>", "best or worst of what is known of machines (default: worst)")
    .option("--noise <sigma>", "spread of real costs around the estimates (default: 0)", parseNumber)
    .option("--seed <number>", "of random graphs, orders and noise (default: 1)", parseCount)
    .option("--out <folder>", "write figures and a chart of each schedule there")
    .option("--json", "print as JSON")
    .action((flags: SimulateFlags, command: Command) => runSimulate(flags, command));
}

async function runSimulate(flags: SimulateFlags, command: Command): Promise<void> {
  const { executors = EXECUTORS_DEFAULT, stealing, out, json, ...given } = flags;
  const { GRAPH_NAMES, ORDER_NAMES, STUDY_DEFAULTS, graphSummary, runStudy } = await import(
    "../simulation/study.ts"
  );
  const { ENDS } = await import("../simulation/machine.ts");
  const options = { ...STUDY_DEFAULTS, ...given, isStealing: stealing };
  for (const [what, name, known] of [
    ["graph", options.graph, GRAPH_NAMES],
    ["order", options.order, ORDER_NAMES],
    ["machine", options.machine, ENDS],
  ] as const)
    if (!known.some((one) => one === name))
      command.error(`error: no ${what} ${name}; there are ${known.join(", ")}`);
  const figures = await withProgress("simulate", async (onProgress) => {
    const all: Figures[] = [];
    for (const count of executors) {
      const one = { ...options, executors: count };
      const study = runStudy(one);
      if (out !== undefined) await writeChart(out, one, study);
      all.push(study.figures);
      onProgress(all.length, executors.length);
    }
    return all;
  });
  print(
    json ? JSON.stringify({ ...options, figures }) : figuresText(options, figures, graphSummary(options)),
  );
}

/** Writes the figures and the chart of a schedule into a folder. @throws ResourceError E442 if it cannot. */
async function writeChart(folder: string, options: StudyOptions, study: Study): Promise<void> {
  const { ganttSvg } = await import("../simulation/gantt.ts");
  const { nodes, simulation, figures } = study;
  const { graph, executors, blocks, order, isStealing } = options;
  const name = `${graph}-${order}${isStealing ? "" : "-no-stealing"}-${executors}x${blocks}`;
  const title = `${graph}: ${counted(executors, "executor")}, ${counted(blocks, "block")}`;
  const subtitle = [
    `${order}${isStealing ? "" : " without stealing"}`,
    `${counted(figures.nodes, "node")} in ${counted(figures.parts, "part")}`,
    `${formatNs(figures.makespanNs)}, ${figures.ratio.toFixed(3)} times the lower bound`,
    `scheduler busy ${percent(figures.schedulerShare)}`,
  ].join("; ");
  const chart = ganttSvg(nodes, simulation.parts, { title, subtitle, executors, blocks });
  const path = join(folder, name);
  await writing(path, async () => {
    await mkdir(folder, { recursive: true });
    await writeFile(`${path}.svg`, chart);
    await writeFile(`${path}.json`, `${JSON.stringify({ ...options, figures }, null, 2)}\n`);
  });
}

/** A line for each number of executors. */
function figuresText(
  { blocks, order, isStealing }: Omit<StudyOptions, "executors">,
  figures: readonly Figures[],
  summary: string,
): string {
  const policy = `${order}${isStealing ? "" : " without stealing"}`;
  const title = `${summary}, ${counted(blocks, "block")}, ${policy}`;
  const header = [
    "executors",
    "parts",
    "makespan",
    "lower bound",
    "ratio",
    "bound by",
    "heavy wait",
    "queue mean",
    "max",
    "stolen",
    "asked",
    "idle",
    "scheduler",
    "peak",
  ];
  const rows = figures.map((one) => [
    one.executors,
    one.parts,
    formatNs(one.makespanNs),
    formatNs(one.bound.ns),
    one.ratio.toFixed(3),
    one.bound.workNs >= one.bound.pathNs ? "work" : "path",
    formatNs(one.heavyWaitNs),
    one.queueMean.toFixed(2),
    one.queueMax,
    one.stealsTaken,
    one.stealsAsked,
    percent(one.idleShare),
    percent(one.schedulerShare),
    formatBytes(one.peakBytes),
  ]);
  return `${title}\n\n${formatTable(header, rows)}`;
}

function formatNs(ns: number): string {
  if (ns >= 1e9) return `${(ns / 1e9).toPrecision(4)} s`;
  return ns >= 1e6 ? `${(ns / 1e6).toPrecision(4)} ms` : `${(ns / 1e3).toPrecision(3)} us`;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function parseExecutors(text: string): number[] {
  const counts = text.split(",").map((one) => (/^\d{1,4}$/.test(one) ? Number(one) : 0));
  if (counts.some((one) => one < 1 || one > EXECUTORS_MAX))
    throw new InvalidArgumentError(`Whole numbers from 1 to ${EXECUTORS_MAX}, with commas between them.`);
  return counts;
}

function parseNumber(text: string): number {
  const value = /^\d{1,12}(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) throw new InvalidArgumentError("A number that is not negative.");
  return value;
}
