import { scaleLinear } from "d3-scale";
import { line as path } from "d3-shape";
import type { BudgetCell } from "../../bench/budget/cell.ts";
import { counted } from "../../text/counted.ts";
import { type Chart, chart, colourOf, EDGE, element, figure, line, mark, PLOT_Y, text } from "./svg.ts";

const WIDTH = 170;
const HEIGHT = 240;
const LEFT = 56;
const GAP = 34;

/** How many times faster than with the fewest threads a formula set is, by the median call. */
interface Speedup {
  readonly set: string;
  readonly points: readonly { readonly threads: number; readonly speedup: number }[];
}

/** The figures of the chart: a row for each point. */
export function scalingRows(cells: readonly BudgetCell[]): (string | number)[][] {
  return curvesOf(cells).flatMap(({ lanes, curves }) =>
    curves.flatMap(({ set, points }) =>
      points.map(({ threads, speedup }) => [set, lanes, threads, figure(speedup)]),
    ),
  );
}

/** Speed by threads, a panel for each number of lanes; null where only one number of threads was measured. */
export function scalingChart(cells: readonly BudgetCell[]): Chart | null {
  const counts = threadsOf(cells);
  const [fewest, most] = [counts[0]!, counts.at(-1)!];
  if (fewest === most) return null;
  const sets = setsOf(cells);
  const speedups = curvesOf(cells);
  const highest = Math.max(
    most / fewest,
    ...speedups.flatMap(({ curves }) => curves.flatMap(({ points }) => points.map(({ speedup }) => speedup))),
  );
  const y = scaleLinear([0, highest * 1.05], [PLOT_Y + 20 + HEIGHT, PLOT_Y + 20]);
  const panels = speedups.map(({ lanes, curves }, index) => {
    const left = LEFT + index * (WIDTH + GAP);
    const x = scaleLinear([fewest, most], [left + 12, left + WIDTH - 12]);
    return panel(curves, sets, lanes, { x, y, counts, left });
  });
  const entries = sets.map((label, series) => ({ label, drawing: seriesMark(series) }));
  const ideal = { label: "not measured: if every thread were as fast", drawing: line(-8, 0, 8, 0, IDEAL) };
  const baseline = counted(fewest, "thread");
  const middle = `translate(16 ${PLOT_Y + 20 + HEIGHT / 2}) rotate(-90)`;
  return chart(
    {
      title: `Scaling by threads (median call, against ${baseline})`,
      width: LEFT + panels.length * (WIDTH + GAP),
      height: PLOT_Y + HEIGHT + 76,
    },
    [...entries, ideal],
    element("text", { transform: middle, "text-anchor": "middle" }, `times as fast as ${baseline}`),
    ...panels,
  );
}

const IDEAL = { stroke: EDGE, "stroke-width": 1.5, "stroke-dasharray": "5 4" };

const seriesMark = (series: number): string => {
  return line(-8, 0, 8, 0, { stroke: colourOf(series), "stroke-width": 2 }) + mark(0, 0, series);
};

const setsOf = (cells: readonly BudgetCell[]) => [...new Set(cells.map(({ formulas }) => formulas))];

const threadsOf = (cells: readonly BudgetCell[]) =>
  [...new Set(cells.map(({ threads }) => threads))].sort((a, b) => a - b);

/**
 * The curves of each number of lanes. A page is also made of a grid that is measured in part: sets without a cell to
 * compare with have no curve.
 */
function curvesOf(cells: readonly BudgetCell[]): { readonly lanes: number; readonly curves: Speedup[] }[] {
  const [fewest] = threadsOf(cells);
  const byLanes = [...Map.groupBy(cells, ({ lanes }) => lanes)].sort(([a], [b]) => a - b);
  return byLanes.map(([lanes, group]) => {
    const curves = setsOf(cells).flatMap((set) => {
      const ofSet = group.filter(({ formulas }) => formulas === set);
      const alone = ofSet.find(({ threads }) => threads === fewest)?.ms.p50;
      if (alone === undefined) return [];
      const points = ofSet.map(({ threads, ms }) => ({ threads, speedup: alone / ms.p50 }));
      return [{ set, points: points.sort((a, b) => a.threads - b.threads) }];
    });
    return { lanes, curves };
  });
}

interface Frame {
  readonly x: (threads: number) => number;
  readonly y: ReturnType<typeof scaleLinear<number, number>>;
  readonly counts: readonly number[];
  readonly left: number;
}

function panel(
  curves: readonly Speedup[],
  sets: readonly string[],
  lanes: number,
  { x, y, counts, left }: Frame,
): string {
  const [bottom, top] = y.range() as [number, number];
  const middle = left + WIDTH / 2;
  const [fewest, most] = [counts[0]!, counts.at(-1)!];
  return [
    text(middle, top - 10, "middle", `${lanes.toLocaleString("en")} lanes`, { class: "strong" }),
    ...y
      .ticks(5)
      .flatMap((tick) => [
        line(left, y(tick), left + WIDTH, y(tick)),
        text(left - 5, y(tick) + 4, "end", figure(tick)),
      ]),
    ...counts.map((count) => text(x(count), bottom + 16, "middle", String(count))),
    text(middle, bottom + 38, "middle", "threads"),
    line(x(fewest), y(1), x(most), y(most / fewest), IDEAL),
    ...curves.map(({ set, points }) => {
      const series = sets.indexOf(set);
      const curve = path<Speedup["points"][number]>(
        ({ threads }) => x(threads),
        ({ speedup }) => y(speedup),
      )(points as Speedup["points"][number][])!;
      const marks = points.map(({ threads, speedup }) => {
        const title = `${set}, ${counted(threads, "thread")}: ${figure(speedup)} times`;
        return mark(x(threads), y(speedup), series, title);
      });
      return (
        element("path", { d: curve, fill: "none", stroke: colourOf(series), "stroke-width": 2 }) +
        marks.join("")
      );
    }),
  ].join("\n");
}
