import { finalDag, type Program, writtenDag } from "../../compile.ts";
import { countCalls, countUnsharedCalls } from "../../dag/print.ts";
import type { WantedFactors } from "../../evaluation/wanted_factors.ts";
import { counted } from "../../text/counted.ts";
import { formatTable } from "../terminal/text_table.ts";
import type { StepTimes } from "../trace/steps.ts";
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
  /** The work of the workers of a cluster. */
  readonly cluster?: ClusterSummary;
}

/** What `--json` prints. */
export function summarise(
  program: Program,
  result: EvalResult,
  times: StepTimes,
  { out, trace }: { readonly out?: string; readonly trace?: string },
) {
  const dag = finalDag(program);
  const { rowCount, nullCounts, nonFiniteCounts } = result;
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
    stagesMs: Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, Math.round(ms * 10) / 10])),
    factors: [...nullCounts].map(([name, nullCount]) => {
      return { name, nullCount, nonFiniteCount: nonFiniteCounts.get(name) ?? 0 };
    }),
    out: out ?? null,
    ...(result.cluster === undefined ? {} : { cluster: result.cluster }),
    ...(trace === undefined ? {} : { trace }),
  };
}

export function summaryText(summary: ReturnType<typeof summarise>): string {
  const { factors, stagesMs, rowCount } = summary;
  const rows = factors.map(({ name, nullCount, nonFiniteCount }) => {
    const share = rowCount === 0 ? "" : `${((100 * nullCount) / rowCount).toFixed(1)} %`;
    return [name, nullCount, share, nonFiniteCount] as const;
  });
  const pruned = summary.nodesPruned > 0 ? `, ${summary.nodesPruned} not needed in this call` : "";
  const unwanted = summary.factorsNotWanted;
  const figure = (count: number) => count.toLocaleString("en");
  return [
    formatTable(["factor", "nulls", "share", "infinities"], rows),
    "",
    `${summary.file}: ${counted(factors.length, "factor")} x ${counted(rowCount, "row")}`,
    `tasks: ${figure(summary.tasks)} unique of ${figure(summary.tasksBeforeSharing)} before sharing${pruned}`,
    ...(unwanted.length > 0 ? [`not wanted by their conditions: ${unwanted.join(", ")}`] : []),
    `time: ${Object.entries(stagesMs)
      .map(([name, ms]) => `${name} ${formatMs(ms)}`)
      .join(", ")}`,
    summary.out === null ? "no --out given: nothing was written" : `result: ${summary.out}`,
    ...(summary.cluster === undefined ? [] : [clusterText(summary.cluster)]),
    ...(summary.trace === undefined ? [] : [`trace: ${summary.trace}`]),
  ].join("\n");
}

export function formatMs(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
