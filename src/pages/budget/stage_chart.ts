import { scaleLinear } from "d3-scale";
import { stack } from "d3-shape";
import type { BudgetCell, StageMs } from "../../bench/budget/cell.ts";
import { cellRows, ROWS_LEFT, ROWS_WIDTH } from "./cell_rows.ts";
import { type Chart, COLOURS, chart, EDGE, element, escapeXml, figure, line, text } from "./svg.ts";

const STAGES = {
  input: { name: "input", colour: COLOURS[2] },
  lanes: { name: "lanes nodes (elementwise, rolling, recursive)", colour: COLOURS[0] },
  rows: { name: "rows nodes (cross-sections)", colour: COLOURS[3] },
  rest: { name: "scheduling and idle", colour: EDGE },
} as const satisfies Record<keyof StageMs, unknown>;

const KEYS = Object.keys(STAGES) as (keyof StageMs)[];

/** Where the mean call of every cell spends its time, in shares; the mean itself stands at the right. */
export function stageChart(cells: readonly BudgetCell[]): Chart {
  const { rows, labels, top, bottom } = cellRows(cells);
  const x = scaleLinear([0, 100], [ROWS_LEFT, ROWS_LEFT + ROWS_WIDTH - 60]);
  const [left, right] = x.range() as [number, number];
  const percents = cells.map(({ stageMs }) => percentsOf(stageMs));
  const series = stack<StageMs, keyof StageMs>().keys(KEYS)(percents);
  const bars = series.flatMap((layer) =>
    layer.map(([from, to], index) => {
      const { cell, y } = rows[index]!;
      const share = `${STAGES[layer.key].name}: ${figure(cell.stageMs[layer.key])} ms, ${figure(to - from)} %`;
      return element(
        "rect",
        { x: x(from), y: y - 6, width: x(to) - x(from), height: 12, fill: STAGES[layer.key].colour },
        element("title", {}, escapeXml(share)),
      );
    }),
  );
  const means = rows.map(({ cell, y }) => text(right + 8, y + 4, `${figure(cell.ms.mean)} ms`));
  const ticks = x
    .ticks(5)
    .flatMap((tick) => [
      line(x(tick), top, x(tick), bottom),
      text(x(tick), bottom + 16, `${tick} %`, { "text-anchor": "middle" }),
    ]);
  const entries = KEYS.map((key) => ({
    label: STAGES[key].name,
    drawing: element("rect", { x: -6, y: -6, width: 12, height: 12, fill: STAGES[key].colour }),
  }));
  return chart(
    { title: "Where the time of a call goes", width: ROWS_LEFT + ROWS_WIDTH + 30, height: bottom + 46 },
    entries,
    ...ticks,
    labels,
    ...bars,
    text(right + 8, top + 10, "mean"),
    ...means,
    text(
      (left + right) / 2,
      bottom + 36,
      "share of the mean wall time of a call, work divided by threads (%)",
      {
        "text-anchor": "middle",
      },
    ),
  );
}

/** A rest below 0, by the clocks of several threads, is none. */
function percentsOf(stageMs: StageMs): StageMs {
  const kept = KEYS.map((key) => Math.max(0, stageMs[key]));
  const total = kept.reduce((all, ms) => all + ms, 0);
  return Object.fromEntries(
    KEYS.map((key, index) => [key, (100 * kept[index]!) / total]),
  ) as unknown as StageMs;
}
