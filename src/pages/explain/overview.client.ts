import {
  bytesText,
  count,
  facts,
  figureText,
  html,
  limited,
  numeric,
  plotted,
  quiet,
  shortened,
} from "../shell/elements.client.ts";
import { factorLink, factorLinks } from "../shell/side.client.ts";
import { SHARED_ROWS, sharedPicture } from "./pictures.client.ts";
import { data, sourceOf } from "./words.client.ts";

/** The first view: what factors share, then all factors. */
export function overview(roomWidth: number): HTMLElement[] {
  const { factors, writtenOperations, tasks, pathNs, pathNodes, bytes, blockRows, dialect } = data;
  return [
    html("h1", {}, data.file),
    quiet(
      `${count(factors.length, "factor")}, dialect ${dialect}. Costs are estimates for one cell (one instrument, one row).`,
    ),
    facts([
      ["operations written", writtenOperations.toLocaleString("en")],
      ["computed", tasks.toLocaleString("en")],
      ["critical path", `${figureText(pathNs)} ns`],
      ["memory an instrument", bytesText(bytes)],
    ]),
    ...sharedSection(roomWidth),
    html("h2", {}, "Factors"),
    factorTable(),
    html("h2", {}, "Critical path of the whole file"),
    html(
      "p",
      {},
      `${count(pathNodes.length, "node")}, one after the other: `,
      html("code", {}, pathNodes.join(" > ")),
    ),
    quiet(`Memory is that of columns in blocks of ${blockRows} rows.`),
  ];
}

function sharedSection(roomWidth: number): HTMLElement[] {
  const { shared, boxes, factors } = data;
  const heading = html("h2", {}, "What factors share");
  if (shared.length === 0) {
    const text =
      factors.length === 1
        ? "A single factor has nothing to share."
        : "No two factors have an operation in common.";
    return [heading, quiet(text)];
  }
  const rest =
    shared.length > SHARED_ROWS ? ` The picture has the first ${SHARED_ROWS} of ${shared.length}.` : "";
  const text = `A row is an expression that several factors need, a column a factor in the order of the file. It is computed once.${rest}`;
  const rows = shared.map(({ box, costNs, savedNs }) => {
    const one = boxes[box]!;
    return [
      html("code", {}, shortened(sourceOf(one), 160)),
      `${one.line}:${one.column}`,
      one.factors.length,
      figureText(costNs),
      figureText(savedNs),
      factorLinks(factors, one.factors, 4),
    ];
  });
  const counts = ["factors", "ns", "ns saved"].map(numeric);
  const columns = ["expression", "line:column", ...counts, "needed by"];
  return [
    heading,
    quiet(text),
    plotted("picture of what factors share", sharedPicture(data, roomWidth, sourceOf)),
    limited("What factors share, by what sharing saves", columns, rows, 12),
  ];
}

function factorTable(): HTMLElement {
  const hasPriorities = data.factors.some(({ priority }) => priority !== 0);
  const hasConditions = data.factors.some(({ when }) => when !== "");
  const rows = data.factors.map((factor, i) => [
    factorLink(data.factors, i),
    html("code", {}, shortened(sourceOf(data.boxes[factor.root]!), 90)),
    factor.boxes.length,
    figureText(factor.costNs),
    factor.costNs > 0 ? `${Math.round((100 * factor.sharedNs) / factor.costNs)} %` : "",
    factor.lookbackRows === null ? "all" : factor.lookbackRows.toLocaleString("en"),
    bytesText(factor.bytes),
    ...(hasPriorities ? [factor.priority] : []),
    ...(hasConditions ? [factor.when] : []),
  ]);
  const columns = [
    "factor",
    "formula",
    ...["operations", "ns", "shared", "rows before", "memory", ...(hasPriorities ? ["priority"] : [])].map(
      numeric,
    ),
    ...(hasConditions ? ["when"] : []),
  ];
  return limited(
    "All factors: operations, estimated ns for a cell, how much of it others need too, rows looked back to, memory an instrument",
    columns,
    rows,
    250,
  );
}
