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

/** What was gathered in a run: what the page shows as it is, and what it is made of. */
export interface GatheredRun
  extends Omit<ReportData, "file" | "dialect" | "times" | "coverage" | "factors" | "causes"> {
  readonly program: Program;
  /** Times of the input. */
  readonly time: TimeColumn;
  readonly coverage: CoverageTally;
  /** Null without a finite value. */
  readonly values: ReadonlyMap<string, ValueData | null>;
  readonly infiniteCounts: ReadonlyMap<string, number>;
  /** Has the factors of the result, in their order. */
  readonly nulls: NullReport;
}

/** What the page shows of a run. */
export function reportData(run: GatheredRun): ReportData {
  const { program, time, coverage, values: _, infiniteCounts: __, nulls, ...shown } = run;
  const causes = [...new Set(nulls.factors.flatMap((factor) => factor.causes.map(({ cause }) => cause)))];
  const { timeCount, firstTime, timesPerPoint, pointCount } = coverage;
  // The row of the input with which the result begins.
  const firstRow = firstTime === null ? 0 : time.values.indexOf(firstTime);
  const timeOf = (row: number) => formatTime(time.values[firstRow + row]!, time.type);
  const times = Array.from({ length: pointCount }, (_, point) => timeOf(point * timesPerPoint));
  return {
    ...shown,
    file: program.file,
    dialect: program.dialect,
    times: { count: timeCount, first: times[0] ?? "", last: timeCount === 0 ? "" : timeOf(timeCount - 1) },
    coverage: { timesPerPoint, times, rows: coverage.rows() },
    factors: factorsOf(run, causes),
    causes: causes.map((cause) => NULL_CAUSES[cause]),
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
