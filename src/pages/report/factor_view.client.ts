import { count, facts, html, numeric, quiet, shortened, table } from "../shell/elements.client.ts";
import { histogramPicture, shareBar } from "./charts.client.ts";
import { coverageSection, sharesOf } from "./overview.client.ts";
import type { FactorData, ValueData } from "./report_data.ts";
import { coverageOf, data, msText, oneLine, pictured, shareText, valueText, whole } from "./words.client.ts";

/** What the values of one factor are like, when they are there, and why others are null. */
export function factorView(index: number, width: number): HTMLElement[] {
  const factor = data.factors[index]!;
  const { name, formula, line, column, values, nullCount, infiniteCount } = factor;
  return [
    html("h1", {}, name),
    quiet(`${data.file}:${line}:${column}`),
    html("pre", { class: "detail" }, formula),
    facts([
      ["coverage", coverageOf(factor)],
      ["nulls", whole(nullCount)],
      ...(infiniteCount > 0 ? [["infinities", whole(infiniteCount)] as const] : []),
      ...(["min", "median", "max", "mean", "sd"] as const)
        .map((key) => [key, valueText(values?.[key])] as const)
        .filter(([, text]) => text !== ""),
    ]),
    html(
      "div",
      { class: "pair" },
      values === null
        ? html("section", {}, html("h2", {}, "Values"), html("p", {}, "No value is finite."))
        : histogramSection(factor, values, width),
      coverageSection("Coverage over time", sharesOf(factor.present), width),
    ),
    html("h2", {}, "Why values are null"),
    ...nullSection(factor),
    html("h2", {}, "What it takes"),
    neededNodes(index),
  ];
}

function histogramSection(factor: FactorData, values: ValueData, width: number): HTMLElement {
  const { low, high, counts } = values.histogram;
  // Infinities are nulls too, unless they are kept.
  const finiteCount = data.rowCount - factor.nullCount - (data.keepsInfinite ? factor.infiniteCount : 0);
  const isWhole = values.sampleCount === finiteCount;
  const sample = `A random sample of ${whole(values.sampleCount)} of ${count(finiteCount, "value")}`;
  const beyond = values.min < low || values.max > high ? ", the outer bars with what lies beyond" : "";
  const text = `${isWhole ? `All ${count(finiteCount, "value")}` : sample}${beyond}.`;
  const edge = (i: number) => valueText(low + ((high - low) * i) / counts.length);
  const rows = counts.map((one, i) => [edge(i), edge(i + 1), whole(one), shareText(one, values.sampleCount)]);
  const columns = [numeric("from"), numeric("to"), numeric("values"), numeric("share")];
  return pictured("Histogram", text, histogramPicture(values, width), table("Histogram", columns, rows));
}

function nullSection({ nullCount, causes, sources }: FactorData): HTMLElement[] {
  if (nullCount === 0) return [html("p", {}, "No value is null.")];
  const byCause = causes.map(([cause, one]) => {
    const { title, meaning, remedy } = data.causes[cause]!;
    return [title, shareBar(one / nullCount), whole(one), shareText(one, nullCount), `${meaning} ${remedy}`];
  });
  const bySource = sources.map((source) => [
    html("code", {}, shortened(oneLine(source.formula), 160)),
    `${source.line}:${source.column}`,
    data.causes[source.cause]!.title,
    whole(source.nullCount),
    shareText(source.nullCount, nullCount),
  ]);
  const counts = [numeric("nulls"), numeric("share")];
  const causeColumns = ["first cause", "part", ...counts, "what it means, and what would give a value"];
  const sourceColumns = ["sub-expression", "line:column", "first cause", ...counts];
  return [
    table("Nulls by first cause", causeColumns, byCause),
    html("h2", {}, "Where they come from"),
    table("The sub-expressions in which most nulls begin", sourceColumns, bySource),
  ];
}

function neededNodes(index: number): HTMLElement {
  const nodes = data.nodes.filter(({ factors }) => factors.includes(index)).slice(0, 12);
  const rows = nodes.map(({ text, ms, factors }) => [
    html("code", {}, text),
    msText(ms),
    factors.length === 1 ? "no other factor" : count(factors.length - 1, "other factor"),
  ]);
  const columns = ["node", numeric("time"), "needed by"];
  return table("The nodes that it needs and that cost most, over the whole run", columns, rows);
}
