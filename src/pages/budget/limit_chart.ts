import { type ScaleLogarithmic, scaleLog } from "d3-scale";
import { area } from "d3-shape";
import type { BudgetCell } from "../../bench/budget/cell.ts";
import type { Limit } from "../../bench/budget/limit.ts";
import { counted } from "../../text/counted.ts";
import { placeText } from "./cell_rows.ts";
import {
  type Chart,
  COLOURS,
  chart,
  EMPTY,
  element,
  figure,
  LIMIT,
  line,
  logTicks,
  PLOT_Y,
  text,
  titled,
} from "./svg.ts";

const WIDTH = 440;
const HEIGHT = 320;
const LEFT = 70;
const GAP = 70;
const LABEL_WIDTH = 44;

type Scale = ScaleLogarithmic<number, number>;

/** The look of what is not measured. */
const DASHES = { "stroke-dasharray": "6 4" };
const HATCHING = "hatching";

/**
 * Lanes by formulas for each number of threads: what fits into the budget lies below its edge. It is filled as far as
 * formulas were measured, and hatched beyond.
 */
export function limitChart(cells: readonly BudgetCell[], limits: readonly Limit[], budgetMs: number): Chart {
  const ends = (values: readonly number[]) => [Math.min(...values) / 1.25, Math.max(...values) * 1.25];
  const measured = cells.filter(({ formulas }) => /^all(:|$)/.test(formulas));
  const formulas = [...measured.map(({ factors }) => factors), ...limits.map((limit) => limit.formulas)];
  const threads = [...new Set(limits.map((limit) => limit.threads))];
  const y = scaleLog(ends(formulas), [PLOT_Y + 20 + HEIGHT, PLOT_Y + 20]);
  const panels = threads.map((count, index) => {
    const left = LEFT + index * (WIDTH + GAP);
    const x = scaleLog(ends(limits.map(({ lanes }) => lanes)), [left, left + WIDTH]);
    return panel(
      { x, y, title: counted(count, "thread") },
      measured.filter((cell) => cell.threads === count),
      limits.filter((limit) => limit.threads === count),
    );
  });
  const sample = { x: -9, y: -7, width: 18, height: 14 };
  const sampleEdge = (kind: Limit["kind"]) =>
    edgeLine(-10, 0, 10, 0, kind === "between") + limitMark(0, 0, kind);
  const entries = [
    { label: `measured: p99 within ${budgetMs} ms`, drawing: dot(0, 0, true) },
    { label: `measured: p99 beyond ${budgetMs} ms`, drawing: dot(0, 0, false) },
    { label: "limit between measured cells", drawing: sampleEdge("between") },
    { label: "limit extrapolated: if time grows with the formulas", drawing: sampleEdge("beyond") },
    { label: "fits, as far as was measured", drawing: element("rect", { ...sample, ...FILLED }) },
    { label: "fits by extrapolation", drawing: element("rect", { ...sample, ...HATCHED }) },
  ];
  return chart(
    {
      title: `How many formulas fit into ${budgetMs} ms`,
      width: LEFT + threads.length * (WIDTH + GAP),
      height: PLOT_Y + HEIGHT + 86,
    },
    entries,
    hatching(),
    ...panels,
  );
}

const HATCHED = { fill: `url(#${HATCHING})` };
const FILLED = { fill: COLOURS[5], "fill-opacity": 0.28 };

function hatching(): string {
  const size = { id: HATCHING, width: 7, height: 7, patternUnits: "userSpaceOnUse" };
  const stroke = line(0, 0, 0, 7, { stroke: COLOURS[5], "stroke-width": 2.5 });
  return element("pattern", { ...size, patternTransform: "rotate(45)" }, stroke);
}

interface Frame {
  readonly x: Scale;
  readonly y: Scale;
  readonly title: string;
}

function panel(frame: Frame, cells: readonly BudgetCell[], limits: readonly Limit[]): string {
  const { x, y } = frame;
  const inside = limits.filter(({ kind }) => kind !== "below");
  const bottom = y.range()[0]!;
  const most = Math.max(...cells.map(({ factors }) => factors));
  const measured = ({ formulas }: Limit) => y(Math.min(formulas, most));
  const filled = area<Limit>(({ lanes }) => x(lanes), bottom, measured)(inside);
  const hatched = area<Limit>(
    ({ lanes }) => x(lanes),
    measured,
    ({ formulas }) => y(formulas),
  )(inside);
  return [
    element("path", { d: filled ?? "", ...FILLED }),
    element("path", { d: hatched ?? "", ...HATCHED }),
    axes(frame, cells),
    edge(frame, inside),
    ...cells.map((cell) => {
      const title = `${cell.formulas}, ${placeText(cell)}: p99 ${figure(cell.ms.p99)} ms`;
      const [at, height] = [x(cell.lanes), y(cell.factors)];
      return (
        dot(at, height, cell.isInside, title) +
        text(at, height - 8, "middle", figure(cell.ms.p99), { class: "small" })
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
    text((left + right) / 2, top - 10, "middle", title, { class: "strong" }),
    ...lanes.flatMap((count, index) => {
      // Beside a near neighbour there is room one line lower only.
      const isNear = index > 0 && x(count) - x(lanes[index - 1]!) < LABEL_WIDTH;
      return [
        line(x(count), top, x(count), bottom),
        text(x(count), bottom + (isNear ? 30 : 16), "middle", count.toLocaleString("en")),
      ];
    }),
    ...logTicks(least, most).flatMap((tick) => [
      line(left, y(tick), right, y(tick)),
      text(left - 6, y(tick) + 4, "end", figure(tick)),
    ]),
    text((left + right) / 2, bottom + 48, "middle", "lanes (instruments, logarithmic)"),
    element("text", { transform: middle, "text-anchor": "middle" }, "formulas (logarithmic)"),
  ].join("\n");
}

/** Solid between numbers of formulas that were interpolated, else dashed. */
function edge({ x, y }: Frame, limits: readonly Limit[]): string {
  const segments = limits.slice(1).map((to, index) => {
    const from = limits[index]!;
    const isMeasured = from.kind === "between" && to.kind === "between";
    return edgeLine(x(from.lanes), y(from.formulas), x(to.lanes), y(to.formulas), isMeasured);
  });
  return segments.join("");
}

function edgeLine(x1: number, y1: number, x2: number, y2: number, isMeasured: boolean): string {
  return line(x1, y1, x2, y2, { stroke: LIMIT, "stroke-width": 2, ...(isMeasured ? {} : DASHES) });
}

function dot(x: number, y: number, isInside: boolean, title = ""): string {
  const look = isInside ? { fill: COLOURS[0], stroke: COLOURS[0] } : { fill: EMPTY, stroke: "var(--ink)" };
  return element("circle", { cx: x, cy: y, r: 4, "stroke-width": 1.5, ...look }, titled(title));
}

function limitMark(x: number, y: number, kind: Limit["kind"]): string {
  const look = { fill: kind === "between" ? LIMIT : EMPTY, stroke: LIMIT, "stroke-width": 1.5 };
  return element("rect", { x: x - 4, y: y - 4, width: 8, height: 8, ...look });
}
