import { count, facts, html, numeric, quiet, table } from "../shell/elements.client.ts";
import { factorLink } from "../shell/side.client.ts";
import { type SortableColumn, sortableTable } from "../shell/sortable.client.ts";
import { coveragePicture, coverageSpark, histogramSpark, shareBar } from "./charts.client.ts";
import type { FactorData } from "./report_data.ts";
import { coverageOf, data, msText, pictured, shareText, valueText, whole } from "./words.client.ts";

/** The first view: the run, coverage, all factors, nulls by cause. */
export function overview(width: number): HTMLElement[] {
  const { factors, rowCount, times, symbolCount, steps, bars, dialect } = data;
  const nullCount = factors.reduce((sum, factor) => sum + factor.nullCount, 0);
  const cellCount = rowCount * factors.length;
  return [
    html("h1", {}, data.file),
    quiet(`A run over ${bars}, dialect ${dialect}, ${data.date.slice(0, 19).replace("T", " ")} UTC.`),
    facts([
      ["factors", whole(factors.length)],
      ["rows", whole(rowCount)],
      ["times", whole(times.count)],
      ["symbols", whole(symbolCount)],
      ["coverage", shareText(cellCount - nullCount, cellCount)],
      ["evaluation", msText(steps.find(({ name }) => name === "evaluate")?.ms ?? 0)],
    ]),
    quiet(
      times.count > 0
        ? `From ${times.first} to ${times.last}. A row is one symbol at one time.`
        : "No row is in the result.",
    ),
    html("h2", {}, "Factors"),
    factorTable(),
    coverageSection("Coverage of all factors over time", totalShares(), width),
    html("h2", {}, "Why values are null"),
    ...causeSection(nullCount),
  ];
}

/** Share of rows with a value by point; null for points without a row. */
export function sharesOf(present: readonly number[], factorCount = 1): (number | null)[] {
  return data.coverage.rows.map((rows, point) =>
    rows === 0 ? null : present[point]! / (rows * factorCount),
  );
}

function totalShares(): (number | null)[] {
  const present = data.coverage.rows.map((_, point) =>
    data.factors.reduce((sum, factor) => sum + factor.present[point]!, 0),
  );
  return sharesOf(present, data.factors.length);
}

export function coverageSection(
  heading: string,
  shares: readonly (number | null)[],
  width: number,
): HTMLElement {
  const { times, rows, timesPerPoint } = data.coverage;
  const text = `Share of the rows that have a value. A point is ${count(timesPerPoint, "time")}.`;
  const lines = times.map((time, point) => {
    const share = shares[point]!;
    return [time, whole(rows[point]!), share === null ? "" : shareText(share, 1)];
  });
  const columns = ["from", numeric("rows"), numeric("coverage")];
  return pictured(heading, text, coveragePicture(shares, times, width), table(heading, columns, lines));
}

function factorTable(): HTMLElement {
  const statistics = (["min", "median", "max", "mean", "sd"] as const).map(
    (name): SortableColumn<FactorData> => [
      numeric(name),
      ({ values }) => valueText(values?.[name]),
      ({ values }) => values?.[name] ?? null,
    ],
  );
  const infinities: SortableColumn<FactorData> = [
    numeric("infinities"),
    ({ infiniteCount }) => whole(infiniteCount),
    ({ infiniteCount }) => infiniteCount,
  ];
  const hasInfinities = data.factors.some(({ infiniteCount }) => infiniteCount > 0);
  const columns: SortableColumn<FactorData>[] = [
    ["factor", (_, i) => factorLink(data.factors, i), ({ name }) => name],
    [numeric("coverage"), coverageOf, ({ nullCount }) => -nullCount],
    ["over time", ({ present }) => coverageSpark(sharesOf(present)), ({ nullCount }) => -nullCount],
    ["histogram", ({ values }) => (values ? histogramSpark(values) : ""), ({ values }) => values?.sd ?? null],
    ...statistics,
    [numeric("nulls"), ({ nullCount }) => whole(nullCount), ({ nullCount }) => nullCount],
    ...(hasInfinities ? [infinities] : []),
    [
      "most nulls by",
      (factor) => `${causeOf(factor)} ${shareText(factor.causes[0]?.[1] ?? 0, factor.nullCount)}`.trim(),
      (factor) => causeOf(factor) || null,
    ],
  ];
  const text = `All ${count(data.factors.length, "factor")}: statistics are those of finite values`;
  const searchedOf = (factor: FactorData) => `${factor.name} ${factor.formula} ${causeOf(factor)}`;
  return sortableTable(text, columns, data.factors, searchedOf, "Search factors, formulas, causes");
}

/** The cause of most nulls. */
const causeOf = ({ causes: [first] }: FactorData): string => (first ? data.causes[first[0]]!.title : "");

function causeSection(nullCount: number): HTMLElement[] {
  if (nullCount === 0) return [html("p", {}, "No value is null.")];
  const totals = data.causes.map((cause, index) => {
    const counts = data.factors.flatMap(({ causes }) => causes.filter(([one]) => one === index));
    return { ...cause, nullCount: counts.reduce((sum, [, one]) => sum + one, 0), factorCount: counts.length };
  });
  totals.sort((a, b) => b.nullCount - a.nullCount);
  const rows = totals.map((cause) => [
    cause.title,
    shareBar(cause.nullCount / nullCount),
    whole(cause.nullCount),
    shareText(cause.nullCount, nullCount),
    cause.factorCount,
    `${cause.meaning} ${cause.remedy}`,
  ]);
  const counts = ["nulls", "share", "factors"].map(numeric);
  const columns = ["first cause", "part", ...counts, "what it means, and what would give a value"];
  return [table("Nulls of all factors by first cause", columns, rows)];
}
