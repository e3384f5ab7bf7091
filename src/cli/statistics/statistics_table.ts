import { NULL_CAUSES } from "../../operator/null_causes.ts";
import type { FactorNulls } from "../../reasons/null_report.ts";
import { counted } from "../../text/counted.ts";
import { numberText, shareText } from "../terminal/number_text.ts";
import { fittingTable } from "../terminal/text_table.ts";
import type { Statistics } from "./factor_statistics.ts";
import { histogramText } from "./histogram.ts";

/** A factor of a result; `statistics` is null without a finite value, and where workers have written the result. */
export interface FactorSummary {
  readonly name: string;
  readonly nullCount: number;
  readonly nonFiniteCount: number;
  /** The most frequent first, if they are asked for. */
  readonly nullCauses?: FactorNulls["causes"];
  readonly statistics: Statistics | null;
}

/** Of more factors those with the lowest coverage are printed. */
const FACTORS_MAX = 20;
/** Of statistics: the values themselves stand above in more. */
const DIGITS = 4;
/** Causes of nulls that are printed of a factor. */
const CAUSES_MAX = 2;
/** What is left out, in this order, where the line is too short. */
const LEAST_WANTED = [
  "nulls",
  "mean",
  "sd",
  "histogram",
  "median",
  "infinities",
  "max",
  "min",
  "null causes",
];

/** A line per factor, in the order of the file; of many factors those with the most nulls, unless all are asked for. */
export function statisticsTable(
  factors: readonly FactorSummary[],
  rowCount: number,
  printsAll: boolean,
  width: number,
): string {
  const isFolded = factors.length > FACTORS_MAX && !printsAll;
  const shown = isFolded
    ? factors.toSorted((a, b) => b.nullCount - a.nullCount).slice(0, FACTORS_MAX)
    : factors;
  const table = wantedTable(columnsOf(shown, rowCount), width);
  const hidden = factors.length - shown.length;
  return hidden === 0 ? table : `${table}\n… ${counted(hidden, "factor")} with fewer nulls: --all`;
}

type Columns = ReadonlyMap<string, readonly string[]>;

function columnsOf(factors: readonly FactorSummary[], rowCount: number): Columns {
  const column = (text: (factor: FactorSummary) => string) => factors.map(text);
  const number = (of: (statistics: Statistics) => number) =>
    column(({ statistics }) => {
      const value = statistics === null ? Number.NaN : of(statistics);
      return Number.isNaN(value) ? "" : numberText(value, DIGITS);
    });
  const columns = new Map([
    ["factor", column(({ name }) => name)],
    ["coverage", column(({ nullCount }) => shareText(rowCount - nullCount, rowCount))],
    ["nulls", column(({ nullCount }) => nullCount.toLocaleString("en"))],
    ["null causes", column(causesText)],
    ["infinities", column(({ nonFiniteCount }) => nonFiniteCount.toLocaleString("en"))],
    ["min", number(({ min }) => min)],
    ["median", number(({ median }) => median)],
    ["max", number(({ max }) => max)],
    ["mean", number(({ mean }) => mean)],
    ["sd", number(({ sd }) => sd)],
    [
      "histogram",
      column(({ statistics }) => (statistics === null ? "" : histogramText(statistics.histogram))),
    ],
  ]);
  if (factors.every(({ nullCauses }) => nullCauses === undefined)) columns.delete("null causes");
  if (factors.every(({ nonFiniteCount }) => nonFiniteCount === 0)) columns.delete("infinities");
  if (factors.every(({ statistics }) => statistics === null))
    for (const name of ["min", "median", "max", "mean", "sd", "histogram"]) columns.delete(name);
  return columns;
}

const causesText = ({ nullCauses = [], nullCount }: FactorSummary): string =>
  nullCauses
    .slice(0, CAUSES_MAX)
    .map(({ cause, cellCount }) => `${NULL_CAUSES[cause].title} ${shareText(cellCount, nullCount)}`)
    .join(", ");

/** The columns that are wanted most, as many as the width holds. */
function wantedTable(columns: Columns, width: number): string {
  const header = [...columns.keys()];
  const rows = columns.get("factor")!.map((_, row) => [...columns.values()].map((texts) => texts[row]!));
  const leastWanted = LEAST_WANTED.map((name) => header.indexOf(name)).filter((column) => column >= 0);
  return fittingTable(
    header,
    rows,
    { width, leastWanted },
    (column) => !["factor", "null causes", "histogram"].includes(header[column]!),
  );
}
