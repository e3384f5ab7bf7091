import { formatBytes } from "../../../evaluation/memory_budget.ts";
import type { BudgetResult } from "../budget.ts";
import type { BudgetCell } from "../cell.ts";
import { limitsOf } from "../limit.ts";
import { latencyChart } from "./latency_chart.ts";
import { limitChart } from "./limit_chart.ts";
import { scalingChart } from "./scaling_chart.ts";
import { stageChart } from "./stage_chart.ts";
import { escapeXml, figure } from "./svg.ts";

const STYLE = `
body { font: 14px/1.5 system-ui, sans-serif; color: #222; background: #fff; margin: 24px auto; max-width: 1180px; padding: 0 16px; }
h1 { font-size: 22px; } figure { margin: 28px 0; } svg { max-width: 100%; height: auto; }
figcaption { color: #555; max-width: 80ch; } dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; }
dt { color: #555; } dd { margin: 0; } .wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: 3px 8px; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } .beyond { color: #b00020; font-weight: 600; }
`;

/** The figures of a budget measurement as a page of its own: charts and a table, without scripts or anything to load. */
export function budgetPage(result: BudgetResult): string {
  const { cells, settings } = result;
  const { budgetMs, calls } = settings;
  const limits = limitsOf(cells, budgetMs);
  const charts = [
    [
      latencyChart(cells, budgetMs),
      `Percentiles of ${calls} calls of one row, after every window is full. A cell is inside the budget if its 99th percentile is.`,
    ],
    [
      limits.length > 0 ? limitChart(cells, limits, budgetMs) : null,
      `By parts of all published formulas, evaluated together. Numbers beside the dots are the 99th percentile in ms.`,
    ],
    [
      stageChart(cells),
      "Measured time of the nodes of each kind, divided by the threads; the rest is handing work out, waiting and idle threads.",
    ],
    [
      scalingChart(cells),
      "The same bits for any number of threads; dashed: as if every thread were as fast.",
    ],
  ] as const;
  return [
    `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>The ${budgetMs} ms budget</title>`,
    `<style>${STYLE}</style>\n</head>\n<body>`,
    `<h1>The ${budgetMs} ms budget</h1>`,
    factList(result),
    ...charts.flatMap(([chart, caption]) =>
      chart === null ? [] : [`<figure>\n${chart}\n<figcaption>${escapeXml(caption)}</figcaption>\n</figure>`],
    ),
    `<h2>All figures</h2>\n<div class="wide">${figureTable(cells)}</div>`,
    "</body>\n</html>\n",
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

type Column = readonly [string, (cell: BudgetCell) => string | number];

/** What the page and the command line tell of a cell. */
export const FIGURES: readonly Column[] = [
  ["set", ({ formulas }) => formulas],
  ["formulas", ({ factors }) => factors],
  ["lanes", ({ lanes }) => lanes],
  ["threads", ({ threads }) => threads],
  ["p50 ms", ({ ms }) => figure(ms.p50)],
  ["p99 ms", ({ ms }) => figure(ms.p99)],
  ["p99.9 ms", ({ ms }) => figure(ms.p999)],
  ["max ms", ({ ms }) => figure(ms.max)],
  ["inside", ({ isInside }) => (isInside ? "yes" : "no")],
  ["prediction off by", ({ prediction }) => `${figure(prediction.meanAbsolutePercent)} %`],
  ["bias", ({ prediction }) => `${figure(prediction.biasPercent)} %`],
  ["ready ms", ({ readyMs }) => figure(readyMs)],
  ["state", ({ stateBytes }) => formatBytes(stateBytes)],
  ["arena", ({ arenaBytes }) => formatBytes(arenaBytes)],
  ["resident", ({ rssBytes }) => formatBytes(rssBytes)],
];

/** What only the page tells. */
const DETAILS: readonly Column[] = [
  ["mean ms", ({ ms }) => figure(ms.mean)],
  ["input ms", ({ stageMs }) => figure(stageMs.input)],
  ["lanes nodes ms", ({ stageMs }) => figure(stageMs.lanes)],
  ["rows nodes ms", ({ stageMs }) => figure(stageMs.rows)],
  ["rest ms", ({ stageMs }) => figure(stageMs.rest)],
  ["nodes", ({ nodes }) => nodes],
  ["warm-up calls", ({ warmUpRows }) => warmUpRows],
];

function figureTable(cells: readonly BudgetCell[]): string {
  const columns = [...FIGURES, ...DETAILS];
  const head = columns.map(([name]) => `<th>${escapeXml(name)}</th>`).join("");
  const rows = cells.map((cell) => {
    const values = columns.map(([, value]) => `<td>${escapeXml(value(cell).toLocaleString("en"))}</td>`);
    return `<tr${cell.isInside ? "" : ' class="beyond"'}>${values.join("")}</tr>`;
  });
  return `<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${rows.join("\n")}\n</tbody>\n</table>`;
}
