import { type ScaleLogarithmic, scaleLog } from "d3-scale";
import { area } from "d3-shape";
import type { BudgetCell } from "../cell.ts";
import type { Limit } from "../limit.ts";
import { placeText, threadsText } from "./cell_rows.ts";
import {
  COLOURS,
  drawing,
  element,
  escapeXml,
  figure,
  INK,
  LEGEND_Y,
  LIMIT,
  legend,
  line,
  logTicks,
  PLOT_Y,
  text,
} from "./svg.ts";

const WIDTH = 440;
const HEIGHT = 320;
const LEFT = 70;
const GAP = 70;
const LABEL_WIDTH = 44;

type Scale = ScaleLogarithmic<number, number>;

/** Lanes by formulas for each number of threads: what fits into the budget is shaded, its edge is the limit. */
export function limitChart(cells: readonly BudgetCell[], limits: readonly Limit[], budgetMs: number): string {
  const ends = (values: readonly number[]) => [Math.min(...values) / 1.25, Math.max(...values) * 1.25];
  const measured = cells.filter(({ formulas }) => /^all(:|$)/.test(formulas));
  const formulas = [...measured.map(({ factors }) => factors), ...limits.map((limit) => limit.formulas)];
  const threads = [...new Set(limits.map((limit) => limit.threads))];
  const y = scaleLog(ends(formulas), [PLOT_Y + 20 + HEIGHT, PLOT_Y + 20]);
  const panels = threads.map((count, index) => {
    const left = LEFT + index * (WIDTH + GAP);
    const x = scaleLog(ends(limits.map(({ lanes }) => lanes)), [left, left + WIDTH]);
    return panel(
      { x, y, budgetMs, title: threadsText(count) },
      measured.filter((cell) => cell.threads === count),
      limits.filter((limit) => limit.threads === count),
    );
  });
  const entries = [
    { label: `p99 within ${budgetMs} ms`, drawing: dot(0, 0, true) },
    { label: `p99 beyond ${budgetMs} ms`, drawing: dot(0, 0, false) },
    { label: `p99 = ${budgetMs} ms, between measured cells`, drawing: limitMark(0, 0, "between") },
    { label: "beyond them, if time grows with the formulas", drawing: limitMark(0, 0, "beyond") },
  ];
  return drawing(
    {
      title: `How many formulas fit into ${budgetMs} ms`,
      width: Math.max(980, LEFT + threads.length * (WIDTH + GAP)),
      height: PLOT_Y + HEIGHT + 86,
    },
    legend(LEFT, LEGEND_Y, entries),
    ...panels,
  );
}

interface Frame {
  readonly x: Scale;
  readonly y: Scale;
  readonly budgetMs: number;
  readonly title: string;
}

function panel(frame: Frame, cells: readonly BudgetCell[], limits: readonly Limit[]): string {
  const { x, y } = frame;
  const inside = limits.filter(({ kind }) => kind !== "below");
  const bottom = y.range()[0]!;
  const shaded = area<Limit>(
    ({ lanes }) => x(lanes),
    bottom,
    ({ formulas }) => y(formulas),
  )(inside);
  return [
    element("path", { d: shaded ?? "", fill: COLOURS[5], "fill-opacity": 0.25 }),
    axes(frame, cells),
    edge(frame, inside),
    ...cells.map((cell) => {
      const title = `${cell.formulas}, ${placeText(cell)}: p99 ${figure(cell.ms.p99)} ms`;
      const [at, height] = [x(cell.lanes), y(cell.factors)];
      return (
        dot(at, height, cell.isInside, title) +
        text(at, height - 8, figure(cell.ms.p99), { "font-size": 10, "text-anchor": "middle" })
      );
    }),
    ...inside.map(({ lanes, formulas, kind }) => limitMark(x(lanes), y(formulas), kind)),
  ].join("\n");
}

function axes({ x, y, title }: Frame, cells: readonly BudgetCell[]): string {
  const [left, right] = x.range() as [number, number];
  const [bottom, top] = y.range() as [number, number];
  const lanes = [...new Set(cells.map((cell) => cell.lanes))].sort((a, b) => a - b);
  const [least, most] = y.domain() as [number, number];
  const middle = `translate(${left - 50} ${(top + bottom) / 2}) rotate(-90)`;
  return [
    text((left + right) / 2, top - 10, title, { "text-anchor": "middle", "font-weight": 600, fill: INK }),
    ...lanes.flatMap((count, index) => {
      // Beside a near neighbour there is room one line lower only.
      const isNear = index > 0 && x(count) - x(lanes[index - 1]!) < LABEL_WIDTH;
      return [
        line(x(count), top, x(count), bottom),
        text(x(count), bottom + (isNear ? 30 : 16), count.toLocaleString("en"), { "text-anchor": "middle" }),
      ];
    }),
    ...logTicks(least, most).flatMap((tick) => [
      line(left, y(tick), right, y(tick)),
      text(left - 6, y(tick) + 4, figure(tick), { "text-anchor": "end" }),
    ]),
    text((left + right) / 2, bottom + 48, "lanes (instruments, logarithmic)", {
      "text-anchor": "middle",
      fill: INK,
    }),
    element("text", { transform: middle, "text-anchor": "middle", fill: INK }, "formulas (logarithmic)"),
  ].join("\n");
}

/** Solid between numbers of formulas that were interpolated, else dashed. */
function edge({ x, y }: Frame, limits: readonly Limit[]): string {
  const segments = limits.slice(1).map((to, index) => {
    const from = limits[index]!;
    const isMeasured = from.kind === "between" && to.kind === "between";
    const look = { stroke: LIMIT, "stroke-width": 2, ...(isMeasured ? {} : { "stroke-dasharray": "6 4" }) };
    return line(x(from.lanes), y(from.formulas), x(to.lanes), y(to.formulas), look);
  });
  return segments.join("");
}

function dot(x: number, y: number, isInside: boolean, title = ""): string {
  const look = isInside ? { fill: COLOURS[0], stroke: COLOURS[0] } : { fill: "#ffffff", stroke: INK };
  return element(
    "circle",
    { cx: x, cy: y, r: 4, "stroke-width": 1.5, ...look },
    element("title", {}, escapeXml(title)),
  );
}

function limitMark(x: number, y: number, kind: Limit["kind"]): string {
  const fill = kind === "between" ? LIMIT : "#ffffff";
  return element("rect", {
    x: x - 4,
    y: y - 4,
    width: 8,
    height: 8,
    fill,
    stroke: LIMIT,
    "stroke-width": 1.5,
  });
}
