import type { Program } from "../../compile.ts";
import { formatTime } from "../../data/time/time_text.ts";
import { NULL_CAUSES, type NullCause } from "../../operator/null_causes.ts";
import type { TimeColumn } from "../../panel.ts";
import type { NullReport } from "../../reasons/null_report.ts";
import { placeOf } from "../../reasons/written_place.ts";
import type { CoverageTally } from "./coverage_tally.ts";
import type { FactorData, ReportData, ValueData } from "./report_data.ts";

/** Sub-expressions to blame that a factor is shown with; `nulls --json` has all. */
const SOURCES_MAX = 12;

/** What was gathered in a run. */
export interface GatheredRun
  extends Pick<ReportData, "bars" | "date" | "machine" | "symbolCount" | "rowCount" | "keepsInfinite"> {
  readonly program: Program;
  /** Times of the input. */
  readonly time: TimeColumn;
  readonly coverage: CoverageTally;
  /** Null without a finite value. */
  readonly values: ReadonlyMap<string, ValueData | null>;
  readonly infiniteCounts: ReadonlyMap<string, number>;
  /** Has the factors of the result, in their order. */
  readonly nulls: NullReport;
  readonly steps: ReportData["steps"];
  readonly nodes: ReportData["nodes"];
  readonly timeline: ReportData["timeline"];
}

/** What the page shows of a run. */
export function reportData(run: GatheredRun): ReportData {
  const { program, coverage, nulls } = run;
  const causes = [...new Set(nulls.factors.flatMap((factor) => factor.causes.map(({ cause }) => cause)))];
  const { bars, date, machine, symbolCount, rowCount, keepsInfinite, steps, nodes, timeline } = run;
  const timesOfPoints = pointTimes(run);
  return {
    file: program.file,
    bars,
    dialect: program.dialect,
    date,
    machine,
    times: {
      count: coverage.timeCount,
      first: timesOfPoints[0] ?? "",
      last: lastTime(run),
    },
    symbolCount,
    rowCount,
    keepsInfinite,
    coverage: { timesPerPoint: coverage.timesPerPoint, times: timesOfPoints, rows: coverage.rows() },
    factors: factorsOf(run, causes),
    causes: causes.map((cause) => NULL_CAUSES[cause]),
    steps,
    nodes,
    timeline,
  };
}

function factorsOf(run: GatheredRun, causes: readonly NullCause[]): FactorData[] {
  const { source, bound } = run.program.written;
  const written = new Map(bound.factors.map((factor) => [factor.name, factor]));
  const indices = new Map(causes.map((cause, index) => [cause, index]));
  return run.nulls.factors.map(({ factor: name, nullCount, causes: counts, sources }) => {
    const { expression, span } = written.get(name)!;
    return {
      name,
      formula: placeOf(source, expression, null).formula,
      ...source.position(span.start),
      nullCount,
      infiniteCount: run.infiniteCounts.get(name) ?? 0,
      values: run.values.get(name) ?? null,
      present: run.coverage.values(name),
      causes: counts.map(({ cause, cellCount }) => [indices.get(cause)!, cellCount]),
      sources: sources.slice(0, SOURCES_MAX).map(({ formula, line, column, cause, cellCount }) => {
        return { formula, line, column, cause: indices.get(cause)!, nullCount: cellCount };
      }),
    };
  });
}

/** The first time of each point. */
function pointTimes({ coverage, time }: GatheredRun): string[] {
  const first = firstRow(coverage, time);
  return Array.from({ length: coverage.pointCount }, (_, point) =>
    formatTime(time.values[first + point * coverage.timesPerPoint]!, time.type),
  );
}

function lastTime({ coverage, time }: GatheredRun): string {
  if (coverage.timeCount === 0) return "";
  return formatTime(time.values[firstRow(coverage, time) + coverage.timeCount - 1]!, time.type);
}

/** The row of the input with which the result begins. */
function firstRow({ firstTime }: CoverageTally, { values }: TimeColumn): number {
  return firstTime === null ? 0 : values.indexOf(firstTime);
}
