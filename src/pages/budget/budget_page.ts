import type { BudgetResult } from "../../bench/budget/budget.ts";
import type { BudgetCell } from "../../bench/budget/cell.ts";
import { type Limit, limitsOf } from "../../bench/budget/limit.ts";
import { formatBytes } from "../../evaluation/memory/memory_need.ts";
import { page, scriptsOf } from "../shell/page.ts";
import { BUDGET_STYLE } from "./budget_style.ts";
import { latencyChart } from "./latency_chart.ts";
import { limitChart } from "./limit_chart.ts";
import { scalingChart, scalingRows } from "./scaling_chart.ts";
import { stageChart } from "./stage_chart.ts";
import { type Chart, escapeXml, figure } from "./svg.ts";

/** The figures of a budget measurement as one page that opens from disk: charts and tables. */
export function budgetPage(result: BudgetResult): string {
  const { cells, settings } = result;
  const { budgetMs, calls } = settings;
  const title = `The ${budgetMs} ms budget`;
  const limits = limitsOf(cells, budgetMs);
  const scaling = scalingChart(cells);
  const sections = [
    section(
      latencyChart(cells, budgetMs),
      `Percentiles of ${calls} calls of one row, after every window is full. A cell is inside the budget if its 99th percentile is.`,
    ),
    limits.length === 0
      ? ""
      : section(
          limitChart(cells, limits, budgetMs),
          "By parts of all published formulas, evaluated together. Numbers beside the dots are the measured 99th percentile in ms. Where all measured formulas fit, the limit is extrapolated: dashed, hatched, its mark empty.",
          limitTable(limits, budgetMs),
        ),
    section(
      stageChart(cells),
      "Measured time of the nodes of each kind, divided by the threads; the rest is handing work out, waiting and idle threads.",
    ),
    scaling === null
      ? ""
      : section(
          scaling,
          "The same bits for any number of threads. The dashed line is no measurement: it is what as many threads of the same speed would give.",
          table("Times as fast", ["set", "lanes", "threads", "times as fast"], scalingRows(cells)),
        ),
  ];
  const body = [
    `<main>\n<header><h1>${escapeXml(title)}</h1><span id="scheme"></span></header>`,
    factList(result),
    ...sections.filter((one) => one !== ""),
    `<h2>All figures</h2>\n${figureTable(cells)}`,
    "</main>",
  ].join("\n");
  const scripts = scriptsOf(["elements"], ["budget"], import.meta.url);
  return page({ title, style: BUDGET_STYLE, scripts, body });
}

/** A chart under its title; a table with the same figures where the table of all cells does not have them. */
function section({ title, legend, picture }: Chart, text: string, same = ""): string {
  const label = escapeXml(`picture: ${title}`);
  const details = same === "" ? "" : `<details><summary>The same as a table</summary>${same}</details>`;
  return [
    `<section>\n<h2>${escapeXml(title)}</h2>\n<p class="quiet">${escapeXml(text)}</p>\n${legend}`,
    `<figure><div class="plot" tabindex="0" role="region" aria-label="${label}">\n${picture}\n</div></figure>`,
    `${details}\n</section>`,
  ].join("\n");
}

const KINDS: Readonly<Record<Limit["kind"], string>> = {
  between: "between measured cells",
  beyond: "extrapolated",
  below: "measured: fewer than these",
};

function limitTable(limits: readonly Limit[], budgetMs: number): string {
  const rows = limits.map(({ threads, lanes, formulas, kind }) => [
    threads,
    lanes,
    Math.floor(formulas),
    KINDS[kind],
  ]);
  return table(`Formulas that fit into ${budgetMs} ms`, ["threads", "lanes", "formulas", "known by"], rows);
}

function table(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  classes: readonly string[] = [],
): string {
  const head = headings.map((heading) => `<th scope="col">${escapeXml(heading)}</th>`).join("");
  const lines = rows.map((row, i) => {
    const cells = row.map((cell) => `<td>${escapeXml(cell.toLocaleString("en"))}</td>`);
    return `<tr${classes[i] ? ` class="${classes[i]}"` : ""}>${cells.join("")}</tr>`;
  });
  const label = escapeXml(`table: ${caption}`);
  return [
    `<div class="wide" tabindex="0" role="region" aria-label="${label}">`,
    `<table>\n<caption>${escapeXml(caption)}</caption>\n<thead><tr>${head}</tr></thead>`,
    `<tbody>\n${lines.join("\n")}\n</tbody>\n</table></div>`,
  ].join("\n");
}

function factList({ date, version, node, cpu, cores, memoryBytes, settings }: BudgetResult): string {
  const { calls, nullShare, panelRows } = settings;
  const facts = [
    ["measured", date],
    ["factorloom", `${version}, Node ${node}`],
    ["machine", `${cpu}, ${cores} cores, ${formatBytes(memoryBytes)}`],
    ["calls", `${calls} of one row in each cell, each cell in a process of its own`],
    ["bars", `${panelRows} made-up ones, over and over, ${100 * nullShare} % of them missing`],
  ];
  return `<dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${escapeXml(value!)}</dd>`).join("")}</dl>`;
}

type Columns = Readonly<Record<string, (cell: BudgetCell) => string | number>>;

/** What the page and the command line tell of a cell. */
export const FIGURES: Columns = {
  set: ({ formulas }) => formulas,
  formulas: ({ factors }) => factors,
  lanes: ({ lanes }) => lanes,
  threads: ({ threads }) => threads,
  "p50 ms": ({ ms }) => figure(ms.p50),
  "p99 ms": ({ ms }) => figure(ms.p99),
  "p99.9 ms": ({ ms }) => figure(ms.p999),
  "max ms": ({ ms }) => figure(ms.max),
  inside: ({ isInside }) => (isInside ? "yes" : "no"),
  "prediction off by": ({ prediction }) => `${figure(prediction.meanAbsolutePercent)} %`,
  bias: ({ prediction }) => `${figure(prediction.biasPercent)} %`,
  "ready ms": ({ readyMs }) => figure(readyMs),
  state: ({ stateBytes }) => formatBytes(stateBytes),
  arena: ({ arenaBytes }) => formatBytes(arenaBytes),
  resident: ({ rssBytes }) => formatBytes(rssBytes),
};

/** What only the page tells. */
const DETAILS: Columns = {
  "mean ms": ({ ms }) => figure(ms.mean),
  "input ms": ({ stageMs }) => figure(stageMs.input),
  "lanes nodes ms": ({ stageMs }) => figure(stageMs.lanes),
  "rows nodes ms": ({ stageMs }) => figure(stageMs.rows),
  "rest ms": ({ stageMs }) => figure(stageMs.rest),
  nodes: ({ nodes }) => nodes,
  "warm-up calls": ({ warmUpRows }) => warmUpRows,
};

function figureTable(cells: readonly BudgetCell[]): string {
  const columns = { ...FIGURES, ...DETAILS };
  return table(
    "Every measured cell; those beyond the budget are bold",
    Object.keys(columns),
    cells.map((cell) => Object.values(columns).map((cellOf) => cellOf(cell))),
    cells.map(({ isInside }) => (isInside ? "" : "beyond")),
  );
}
