import { NULL_CAUSES } from "../../operator/null_causes.ts";
import type { FactorNulls, NullReport } from "../../reasons/null_report.ts";
import { counted } from "../../text/counted.ts";
import { shareText } from "../terminal/number_text.ts";
import { fittingTable, oneLine } from "../terminal/text_table.ts";

const FORMULA_CHARACTERS_MAX = 60;
/** Factors that are printed without `--all`. */
const FACTORS_MAX = 20;
/** So few factors are printed with every sub-expression that is to blame. */
const DETAILED_FACTORS_MAX = 2;
const SOURCES_MAX = 20;

/** Counts of nulls for a terminal, the factors with most nulls first. */
export function nullsText(file: string, report: NullReport, isAll: boolean, width: number): string {
  const { factors, cellCount } = report;
  const withNulls = factors
    .filter(({ nullCount }) => nullCount > 0)
    .sort((a, b) => b.nullCount - a.nullCount);
  const shown = isAll ? withNulls : withNulls.slice(0, FACTORS_MAX);
  const rest = withNulls.length - shown.length;
  const whole = factors.length - withNulls.length;
  return [
    `${file}: ${counted(factors.length, "factor")} x ${counted(cellCount, "row")}`,
    ...(whole > 0 ? [`${counted(whole, "factor")} without a null`] : []),
    ...(shown.length === 0
      ? []
      : shown.length <= DETAILED_FACTORS_MAX
        ? shown.flatMap((factor) => ["", ...detailLines(factor, cellCount, width)])
        : ["", overview(shown, cellCount, width)]),
    ...(rest > 0 ? [`... and ${counted(rest, "factor")} with fewer nulls (--all)`] : []),
  ].join("\n");
}

function overview(factors: readonly FactorNulls[], cellCount: number, width: number): string {
  const rows = factors.map(({ factor, nullCount, causes, sources }) => {
    const [cause, source] = [causes[0]!, sources[0]!];
    return [
      factor,
      nullCount,
      shareText(nullCount, cellCount),
      `${NULL_CAUSES[cause.cause].title} ${shareText(cause.cellCount, nullCount)}`,
      oneLine(source.formula, FORMULA_CHARACTERS_MAX),
      shareText(source.cellCount, nullCount),
      `${source.line}:${source.column}`,
    ] as const;
  });
  return fittingTable(
    ["factor", "nulls", "share", "most frequent cause", "to blame most", "for", "line:column"],
    rows,
    { width, cut: 4, leastWanted: [5, 2, 6, 1] },
  );
}

function detailLines(
  { factor, nullCount, sources }: FactorNulls,
  cellCount: number,
  width: number,
): string[] {
  const rows = sources.slice(0, SOURCES_MAX).map((source) => {
    const { cause, formula, line, column } = source;
    const title = NULL_CAUSES[cause].title;
    return [
      source.cellCount,
      shareText(source.cellCount, nullCount),
      title,
      oneLine(formula, FORMULA_CHARACTERS_MAX),
      `${line}:${column}`,
    ] as const;
  });
  const rest = sources.length - rows.length;
  return [
    `${factor}: ${counted(nullCount, "null")}, ${shareText(nullCount, cellCount)} of its rows`,
    fittingTable(["nulls", "share", "first cause", "in", "line:column"], rows, {
      width,
      cut: 3,
      leastWanted: [1],
    }),
    ...(rest > 0 ? [`... and ${counted(rest, "sub-expression")} to blame for fewer (--json)`] : []),
  ];
}
