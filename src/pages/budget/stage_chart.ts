import { scaleLinear } from "d3-scale";
import { stack } from "d3-shape";
import type { BudgetCell, StageMs } from "../../bench/budget/cell.ts";
import { cellRows, ROWS_LEFT, ROWS_WIDTH } from "./cell_rows.ts";
import { type Chart, COLOURS, chart, EDGE, element, figure, line, text, titled } from "./svg.ts";

const STAGES = {
  input: { name: "input", colour: COLOURS[2] },
  lanes: { name: "lanes nodes (elementwise, rolling, recursive)", colour: COLOURS[0] },
  rows: { name: "rows nodes (cross-sections)", colour: COLOURS[3] },
  rest: { name: "scheduling and idle", colour: EDGE },
} as const satisfies Record<keyof StageMs, unknown>;

const AXIS = "share of the mean wall time of a call, work divided by threads (%)";

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
        titled(share),
      );
    }),
  );
  const means = rows.map(({ cell, y }) => text(right + 8, y + 4, "start", `${figure(cell.ms.mean)} ms`));
  const ticks = x
    .ticks(5)
    .flatMap((tick) => [
      line(x(tick), top, x(tick), bottom),
      text(x(tick), bottom + 16, "middle", `${tick} %`),
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
    text(right + 8, top + 10, "start", "mean"),
    ...means,
    text((left + right) / 2, bottom + 36, "middle", AXIS),
  );
}

/** A rest below 0, by the clocks of several threads, is none. */
function percentsOf(stageMs: StageMs): StageMs {
  const total = KEYS.reduce((all, key) => all + Math.max(0, stageMs[key]), 0);
  const percents = KEYS.map((key) => [key, (100 * Math.max(0, stageMs[key])) / total]);
  return Object.fromEntries(percents) as StageMs;
}
