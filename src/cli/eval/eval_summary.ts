import { finalDag, type Program, writtenDag } from "../../compile.ts";
import { countCalls, countUnsharedCalls } from "../../dag/print.ts";
import type { WantedFactors } from "../../evaluation/wanted_factors.ts";
import type { FactorNulls, NullReport } from "../../reasons/null_report.ts";
import { counted } from "../../text/counted.ts";
import type { Statistics } from "../statistics/factor_statistics.ts";
import type { FactorSummary } from "../statistics/statistics_table.ts";
import { type StepTimes, timesText } from "../terminal/progress.ts";
import { type ClusterSummary, clusterText } from "./cluster_summary.ts";
import type { ShownRow } from "./shown_rows.ts";

/** The counts of an evaluation. */
export interface EvalResult {
  readonly wanted: WantedFactors;
  readonly rowCount: number;
  readonly nullCounts: ReadonlyMap<string, number>;
  readonly nonFiniteCounts: ReadonlyMap<string, number>;
  /** The rows to be printed; null where they went from workers into files. */
  readonly shownRows: readonly ShownRow[] | null;
  /** By factor; null where its values went from workers into files, and for a factor without a finite value. */
  readonly statistics: ReadonlyMap<string, Statistics | null> | null;
  /** By factor the causes of its nulls, if they are asked for. */
  readonly nullCauses?: ReadonlyMap<string, FactorNulls["causes"]>;
  /** The work of the workers of a cluster. */
  readonly cluster?: ClusterSummary;
}

export const causesByFactor = ({ factors }: NullReport): ReadonlyMap<string, FactorNulls["causes"]> =>
  new Map(factors.map(({ factor, causes }) => [factor, causes]));

export function factorSummaries(result: EvalResult): FactorSummary[] {
  const { nullCounts, nonFiniteCounts, nullCauses, statistics } = result;
  return [...nullCounts].map(([name, nullCount]) => ({
    name,
    nullCount,
    nonFiniteCount: nonFiniteCounts.get(name) ?? 0,
    ...(nullCauses === undefined ? {} : { nullCauses: nullCauses.get(name) ?? [] }),
    statistics: statistics?.get(name) ?? null,
  }));
}

/** JSON has no NaN: a single value has no standard deviation. */
function jsonStatistics(statistics: Statistics | null) {
  if (statistics === null)
    return { min: null, median: null, max: null, mean: null, sd: null, histogram: null };
  const { sample: _, ...numbers } = statistics;
  return { ...numbers, sd: Number.isNaN(numbers.sd) ? null : numbers.sd };
}

/** What `--json` prints. */
export function summarise(
  program: Program,
  result: EvalResult,
  times: StepTimes,
  { out, trace, report }: { readonly out?: string; readonly trace?: string; readonly report?: string },
) {
  const dag = finalDag(program);
  const { rowCount } = result;
  const { factors, prunedTaskCount } = result.wanted;
  return {
    file: program.file,
    dialect: program.dialect,
    factorCount: factors.length,
    rowCount,
    tasksBeforeSharing: countUnsharedCalls(writtenDag(program)),
    tasks: countCalls(dag),
    nodesPruned: prunedTaskCount,
    factorsNotWanted: factors.filter(({ output }) => output === null).map(({ name }) => name),
    stagesMs: times,
    factors: factorSummaries(result).map(({ statistics, ...counts }) => ({
      ...counts,
      coverage: rowCount === 0 ? null : 1 - counts.nullCount / rowCount,
      ...jsonStatistics(statistics),
    })),
    out: out ?? null,
    ...(result.cluster === undefined ? {} : { cluster: result.cluster }),
    ...(trace === undefined ? {} : { trace }),
    ...(report === undefined ? {} : { report }),
  };
}

/** @param statistics the lines of the factors */
export function summaryText(summary: ReturnType<typeof summarise>, statistics: string): string {
  const { factors, stagesMs, rowCount } = summary;
  const pruned = summary.nodesPruned > 0 ? `, ${summary.nodesPruned} not needed in this call` : "";
  const unwanted = summary.factorsNotWanted;
  const figure = (count: number) => count.toLocaleString("en");
  return [
    statistics,
    "",
    `${summary.file}: ${counted(factors.length, "factor")} x ${counted(rowCount, "row")}`,
    `tasks: ${figure(summary.tasks)} unique of ${figure(summary.tasksBeforeSharing)} before sharing${pruned}`,
    ...(unwanted.length > 0 ? [`not wanted by their conditions: ${unwanted.join(", ")}`] : []),
    `time: ${timesText(stagesMs)}`,
    summary.out === null ? "no --out given: nothing was written" : `result: ${summary.out}`,
    ...(summary.cluster === undefined ? [] : [clusterText(summary.cluster)]),
    ...(summary.trace === undefined ? [] : [`trace: ${summary.trace}`]),
    ...(summary.report === undefined ? [] : [`report: ${summary.report}`]),
  ].join("\n");
}
