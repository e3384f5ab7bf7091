import {
  bytesText,
  count,
  facts,
  figureText,
  html,
  limited,
  numeric,
  quiet,
  shortened,
} from "../shell/elements.client.ts";
import { factorLinks } from "../shell/side.client.ts";
import type { FactorData } from "./explain_data.ts";
import { graphLegend, graphPicture } from "./pictures.client.ts";
import { data, placeOf, sourceOf } from "./words.client.ts";

const WITHOUT_CODE = "By reference: it has no code, so it is computed one cell, or one row, at a time.";

/** The graph of one factor, what is chosen in it, and its operations as a table. */
export function factorView(index: number, main: HTMLElement): HTMLElement[] {
  const factor = data.factors[index]!;
  const detail = html("section", { class: "detail", "aria-live": "polite" });
  const select = (id: number) => {
    detail.replaceChildren(...boxDetail(factor, id));
    for (const box of main.querySelectorAll<SVGElement>(".box")) {
      const isChosen = Number(box.dataset["box"]) === id;
      box.setAttribute("aria-pressed", String(isChosen));
      box.tabIndex = isChosen ? 0 : -1;
      if (isChosen && main.contains(document.activeElement)) box.focus();
    }
  };
  const used = new Set(factor.boxes.map((id) => data.boxes[id]!.axis));
  const elements = [
    html("h1", {}, factor.name),
    quiet(`${placeOf(factor)}${factor.when ? `, when ${factor.when}` : ""}`),
    facts([
      ["operations", factor.boxes.length.toLocaleString("en")],
      ["cost of a cell", `${figureText(factor.costNs)} ns`],
      [
        "of it shared",
        factor.costNs > 0 ? `${Math.round((100 * factor.sharedNs) / factor.costNs)} %` : "nothing",
      ],
      ["critical path", `${figureText(factor.path.reduce((sum, id) => sum + data.boxes[id]!.costNs, 0))} ns`],
      ["rows before", factor.lookbackRows === null ? "all" : factor.lookbackRows.toLocaleString("en")],
      ["memory an instrument", bytesText(factor.bytes)],
    ]),
    graphLegend(used),
    html("div", { class: "graph" }, graphFigure(factor, select), detail),
    html("h2", {}, "Operations"),
    operationTable(factor, select),
  ];
  queueMicrotask(() => select(factor.root));
  return elements;
}

function graphFigure(factor: FactorData, select: (id: number) => void): HTMLElement {
  const text = "are too many for a picture: the table has them all.";
  if (!factor.drawing) return html("p", {}, `${count(factor.boxes.length, "operation")} ${text}`);
  const { width, height } = factor.drawing;
  const picture = graphPicture(factor, factor.drawing, data.boxes, select);
  const plot = html("div", { class: "plot" }, picture);
  const scale = (by: number) => {
    picture.setAttribute("width", String(Math.round(width * by)));
    picture.setAttribute("height", String(Math.round(height * by)));
  };
  const fit = () => scale(Math.min(1, Math.max(0.25, (plot.clientWidth - 18) / width)));
  queueMicrotask(() => {
    scale(Math.min(1, Math.max(0.8, (plot.clientWidth - 18) / width)));
    const root = factor.drawing!.places[0]![0] / width;
    plot.scrollLeft = root * plot.scrollWidth - plot.clientWidth / 2;
  });
  return html(
    "figure",
    {},
    plot,
    html(
      "div",
      { class: "tools" },
      html("button", { type: "button", click: fit }, "Fit to width"),
      html("button", { type: "button", click: () => scale(1) }, "100 %"),
      html(
        "span",
        { class: "quiet" },
        "Numbers on lines are the operands in the order of the formula. Arrow keys move along them.",
      ),
    ),
  );
}

function boxDetail(factor: FactorData, id: number): Node[] {
  const box = data.boxes[id]!;
  const { source } = data;
  const lineStart = source.lastIndexOf("\n", box.start - 1) + 1;
  const nextLine = source.indexOf("\n", box.end);
  const lineEnd = nextLine < 0 ? source.length : nextLine;
  const excerpt = [
    source.slice(lineStart, box.start),
    html("mark", {}, source.slice(box.start, box.end)),
    source.slice(box.end, lineEnd),
  ];
  const share =
    factor.costNs > 0 ? `, ${Math.round((100 * box.costNs) / factor.costNs)} % of ${factor.name}` : "";
  const others = box.factors.filter((other) => data.factors[other] !== factor);
  const operands = box.operands.map((operand) =>
    html("li", {}, html("code", {}, shortened(sourceOf(data.boxes[operand]!), 120))),
  );
  return [
    html("h2", { class: "mono" }, box.label),
    quiet(`${placeOf(box)} · ${figureText(box.costNs)} ns${share}`),
    ...(box.isByReference ? [html("p", {}, WITHOUT_CODE)] : []),
    html("pre", {}, ...excerpt),
    ...(operands.length > 0 ? [html("p", {}, "Operands in order:"), html("ol", {}, ...operands)] : []),
    others.length > 0
      ? html("p", {}, "Also needed by ", factorLinks(data.factors, others, 12), ".")
      : html("p", {}, "No other factor needs it."),
  ];
}

function operationTable(factor: FactorData, select: (id: number) => void): HTMLElement {
  const rows = factor.boxes.map((id) => {
    const box = data.boxes[id]!;
    const choose = html(
      "button",
      { type: "button", class: "mono", click: () => select(id) },
      shortened(box.label, 90),
    );
    return [
      choose,
      html("code", {}, shortened(sourceOf(box), 120)),
      `${box.line}:${box.column}`,
      figureText(box.costNs),
      box.isByReference ? "yes" : "",
      factor.path.includes(id) ? "yes" : "",
      box.factors.length,
    ];
  });
  const marks = ["by reference", "critical path"];
  const columns = ["operation", "as written", "line:column", numeric("ns"), ...marks, numeric("factors")];
  return limited(`Operations of ${factor.name}, the factor first`, columns, rows, 250);
}
