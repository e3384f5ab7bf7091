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
  const columns = columnsOf(shown, rowCount);
  const header = Object.keys(columns);
  const rows = shown.map((factor) => Object.values(columns).map((textOf) => textOf(factor)));
  const leastWanted = LEAST_WANTED.map((name) => header.indexOf(name)).filter((column) => column >= 0);
  const isRight = (column: number) => !["factor", "null causes", "histogram"].includes(header[column]!);
  const table = fittingTable(header, rows, { width, leastWanted }, isRight);
  const hidden = factors.length - shown.length;
  return hidden === 0 ? table : `${table}\n… ${counted(hidden, "factor")} with fewer nulls: --all`;
}

type TextOf = (factor: FactorSummary) => string;

/** The columns in which some factor has something. */
function columnsOf(factors: readonly FactorSummary[], rowCount: number): Readonly<Record<string, TextOf>> {
  const number =
    (of: (statistics: Statistics) => number): TextOf =>
    ({ statistics }) => {
      const value = statistics === null ? Number.NaN : of(statistics);
      return Number.isNaN(value) ? "" : numberText(value, DIGITS);
    };
  return {
    factor: ({ name }) => name,
    coverage: ({ nullCount }) => shareText(rowCount - nullCount, rowCount),
    nulls: ({ nullCount }) => nullCount.toLocaleString("en"),
    ...(factors.some(({ nullCauses }) => nullCauses !== undefined) && { "null causes": causesText }),
    ...(factors.some(({ nonFiniteCount }) => nonFiniteCount > 0) && {
      infinities: ({ nonFiniteCount }) => nonFiniteCount.toLocaleString("en"),
    }),
    ...(factors.some(({ statistics }) => statistics !== null) && {
      min: number(({ min }) => min),
      median: number(({ median }) => median),
      max: number(({ max }) => max),
      mean: number(({ mean }) => mean),
      sd: number(({ sd }) => sd),
      histogram: ({ statistics }) => (statistics === null ? "" : histogramText(statistics.histogram)),
    }),
  };
}

const causesText: TextOf = ({ nullCauses = [], nullCount }) =>
  nullCauses
    .slice(0, CAUSES_MAX)
    .map(({ cause, cellCount }) => `${NULL_CAUSES[cause].title} ${shareText(cellCount, nullCount)}`)
    .join(", ");
