import { scaleLog } from "d3-scale";
import type { BudgetCell } from "../../bench/budget/cell.ts";
import type { MsPerRow } from "../../bench/result.ts";
import { cellRows, placeText, ROWS_LEFT, ROWS_WIDTH } from "./cell_rows.ts";
import { type Chart, chart, EDGE, figure, LIMIT, line, logTicks, mark, text } from "./svg.ts";

const PERCENTILES = [
  ["p50", "p50"],
  ["p99", "p99"],
  ["p999", "p99.9"],
  ["max", "max"],
] as const satisfies readonly (readonly [keyof MsPerRow, string])[];

/** Latency of every cell: its percentiles on a line, ms by logarithms, with the budget across all. */
export function latencyChart(cells: readonly BudgetCell[], budgetMs: number): Chart {
  const { rows, labels, top, bottom } = cellRows(cells);
  const least = Math.min(...cells.map(({ ms }) => ms.p50), budgetMs) / 1.3;
  const most = Math.max(...cells.map(({ ms }) => ms.max), budgetMs) * 1.3;
  const x = scaleLog([least, most], [ROWS_LEFT, ROWS_LEFT + ROWS_WIDTH]);
  const grid = logTicks(least, most).flatMap((tick) => [
    line(x(tick), top, x(tick), bottom),
    text(x(tick), bottom + 16, "middle", figure(tick)),
  ]);
  const budget = [
    line(x(budgetMs), top, x(budgetMs), bottom, { stroke: LIMIT, "stroke-width": 2 }),
    text(x(budgetMs) - 6, top + 12, "end", `${budgetMs} ms`, { class: "limit" }),
  ];
  const marks = rows.map(({ cell, y }) => {
    const span = line(x(cell.ms.p50), y, x(cell.ms.max), y, { stroke: EDGE });
    // The smaller percentile lies on top where two fall together.
    const points = PERCENTILES.map(([key, name], series) => {
      const title = `${cell.formulas}, ${placeText(cell)}: ${name} ${figure(cell.ms[key])} ms`;
      return mark(x(cell.ms[key]), y, series, title);
    });
    return span + points.reverse().join("");
  });
  const entries = PERCENTILES.map(([, label], series) => ({ label, drawing: mark(0, 0, series) }));
  return chart(
    { title: "Latency of one call (one row)", width: ROWS_LEFT + ROWS_WIDTH + 30, height: bottom + 46 },
    entries,
    ...grid,
    ...budget,
    labels,
    ...marks,
    text(ROWS_LEFT + ROWS_WIDTH / 2, bottom + 36, "middle", "wall time of a call (ms, logarithmic)"),
  );
}
