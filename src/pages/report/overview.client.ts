import { type Child, count, facts, html, numeric, quiet, table } from "../shell/elements.client.ts";
import { factorLink } from "../shell/side.client.ts";
import { type SortableRow, sortableTable } from "../shell/sortable.client.ts";
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
  const hasInfinities = data.factors.some(({ infiniteCount }) => infiniteCount > 0);
  const columns = [
    "factor",
    numeric("coverage"),
    "over time",
    "histogram",
    ...["min", "median", "max", "mean", "sd", "nulls"].map(numeric),
    ...(hasInfinities ? [numeric("infinities")] : []),
    "most nulls by",
  ];
  const rows = data.factors.map((factor, i) => factorRow(factor, i, hasInfinities));
  const text = `All ${count(data.factors.length, "factor")}: statistics are those of finite values`;
  return sortableTable(text, columns, rows, "Search factors, formulas, causes");
}

function factorRow(factor: FactorData, index: number, hasInfinities: boolean): SortableRow {
  const { name, nullCount, infiniteCount, values, causes, present, formula } = factor;
  const [first] = causes;
  const cause = first === undefined ? "" : data.causes[first[0]]!.title;
  const numbers = [values?.min, values?.median, values?.max, values?.mean, values?.sd];
  const cells: Child[] = [
    factorLink(data.factors, index),
    coverageOf(factor),
    coverageSpark(sharesOf(present)),
    values === null ? "" : histogramSpark(values),
    ...numbers.map(valueText),
    whole(nullCount),
    ...(hasInfinities ? [whole(infiniteCount)] : []),
    first === undefined ? "" : `${cause} ${shareText(first[1], nullCount)}`,
  ];
  const keys = [
    name,
    -nullCount,
    -nullCount,
    values?.sd ?? null,
    ...numbers.map((value) => value ?? null),
    nullCount,
    ...(hasInfinities ? [infiniteCount] : []),
    cause === "" ? null : cause,
  ];
  return { cells, keys, searched: `${name} ${formula} ${cause}` };
}

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
