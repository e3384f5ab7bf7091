import { drawn, figureText, html, label, shortened, svg } from "../shell/elements.client.ts";
import type { Box, Drawing, ExplainData, FactorData, StageData } from "./explain_data.ts";

/** Rows of the picture of what factors share; the table has the others. */
export const SHARED_ROWS = 24;
const ROW = 22;
const CHARACTER = 7.25;

/** What factors share, as wide as there is room: a row for each sub-expression, a column for each factor. */
export function sharedPicture(
  { shared, boxes, factors }: ExplainData,
  room: number,
  sourceOf: (box: Box) => string,
): SVGElement {
  const rows = shared.slice(0, SHARED_ROWS);
  const names = room > 640 ? 300 : 150;
  const step = Math.max(1.2, Math.min(24, (room - names - 44) / factors.length));
  const width = names + step * factors.length + 40;
  const lines = rows.map(({ box }, row) => {
    const { factors: users } = boxes[box]!;
    const y = 24 + row * ROW;
    const cells = users.map((factor) =>
      svg(
        "rect",
        { class: "cell", x: names + factor * step, y: y + 3, width: Math.max(1, step - 1), height: ROW - 6 },
        svg("title", {}, `${factors[factor]!.name} needs it`),
      ),
    );
    const lane = svg("rect", {
      class: "lane",
      x: names,
      y: y + 3,
      width: step * factors.length,
      height: ROW - 6,
    });
    const source = shortened(sourceOf(boxes[box]!), Math.floor((names - 14) / CHARACTER));
    const name = label(names - 10, y + 15, "end", source);
    const count = svg("text", { x: names + step * factors.length + 8, y: y + 15 }, String(users.length));
    return svg("g", {}, name, lane, ...cells, count);
  });
  const [first, last] = [factors[0]!, factors.at(-1)!].map(({ name }) => shortened(name, 24));
  const right = names + step * factors.length;
  return drawn(
    "Sub-expressions by the factors that need them; the table below has the same",
    [width, 30 + rows.length * ROW],
    { class: "shares" },
    label(names, 14, "start", first!),
    ...(factors.length * step > 300 ? [label(right, 14, "end", last!)] : []),
    ...lines,
  );
}

/** Tasks after each stage. */
export function stagePicture(stages: readonly StageData[]): SVGElement {
  const most = Math.max(...stages.map(({ tasks }) => tasks), 1);
  const bars = stages.map(({ name, tasks }, i) =>
    svg(
      "g",
      {},
      label(190, i * 26 + 17, "end", name),
      svg("rect", { class: "bars", x: 200, y: i * 26 + 4, width: (tasks / most) * 420, height: 18 }),
      svg("text", { x: 208 + (tasks / most) * 420, y: i * 26 + 17 }, tasks.toLocaleString("en")),
    ),
  );
  const name = "Tasks of the graph after each pass; the table has the same";
  return drawn(name, [700, stages.length * 26 + 6], {}, ...bars);
}

/** A factor's graph, the factor at the top. `onSelect` gets the box that is chosen. */
export function graphPicture(
  factor: FactorData,
  drawing: Drawing,
  boxes: readonly Box[],
  onSelect: (box: number) => void,
): SVGElement {
  const heavy = new Set(factor.path.slice(1).map((to, i) => `${factor.path[i]} ${to}`));
  const edges = drawing.edges.map(({ from, to, path }) =>
    svg("path", { class: `edge${heavy.has(`${from} ${to}`) ? " heavy" : ""}`, d: path }),
  );
  const ordinals = drawing.edges
    .filter(({ from }) => boxes[from]!.operands.length > 1)
    .map(({ label: mark, labelAt: [x, y] }) => svg("text", { class: "ordinal", x, y }, mark));
  const groups = factor.boxes.map((id, i) => boxGroup(id, boxes[id]!, drawing.places[i]!, onSelect));
  const keydown = (event: Event) => moveAlong(event as KeyboardEvent, factor, boxes, onSelect);
  const name = `Graph of ${factor.name}: arrows move along its edges`;
  const size = [drawing.width, drawing.height] as const;
  return drawn(name, size, { role: "group", keydown }, ...edges, ...ordinals, ...groups);
}

function boxGroup(
  id: number,
  box: Box,
  [x, y, width, height]: readonly [number, number, number, number],
  onSelect: (box: number) => void,
): SVGElement {
  const others = box.factors.length - 1;
  const share = others > 0 ? `, also in ${others.toLocaleString("en")}` : "";
  const small = box.axis === "column" ? "as it is" : `${figureText(box.costNs)} ns${share}`;
  const frame = { x: x - width / 2, y: y - height / 2, height, rx: 6 };
  return svg(
    "g",
    {
      class: "box",
      role: "button",
      tabindex: -1,
      "aria-pressed": "false",
      "data-box": id,
      click: () => onSelect(id),
    },
    svg("rect", { ...frame, width }),
    svg("rect", { ...frame, class: `kind ${box.axis}`, width: 6, rx: 3 }),
    svg("text", { x: frame.x + 16, y: y - 3 }, shortened(box.label, Math.floor((width - 28) / CHARACTER))),
    svg("text", { class: "small", x: frame.x + 16, y: y + 14 }, small),
  );
}

/** Down to the first operand, up to what uses the box, left and right among operands of the same. */
function moveAlong(
  event: KeyboardEvent,
  { boxes: ids }: FactorData,
  boxes: readonly Box[],
  onSelect: (box: number) => void,
): void {
  const current = Number((event.target as Element).closest("[data-box]")?.getAttribute("data-box") ?? -1);
  if (current < 0) return;
  const user = ids.find((id) => boxes[id]!.operands.includes(current));
  const siblings = [...new Set(user === undefined ? [] : boxes[user]!.operands)];
  const at = siblings.indexOf(current);
  const targets: Readonly<Record<string, number | undefined>> = {
    ArrowDown: boxes[current]!.operands[0],
    ArrowUp: user,
    ArrowLeft: siblings[at - 1],
    ArrowRight: siblings[at + 1],
    Enter: current,
    " ": current,
  };
  if (!(event.key in targets)) return;
  event.preventDefault();
  const target = targets[event.key];
  if (target !== undefined) onSelect(target);
}

/** What the colours and the heavy line mean. */
export function graphLegend(used: ReadonlySet<string>): HTMLElement {
  const names = Object.entries({
    column: "a column or number as it is",
    elementwise: "value by value",
    rolling: "over a window of rows",
    recursive: "over all rows before",
    cross_section: "across all instruments",
    group: "within a group",
  }).filter(([axis]) => used.has(axis));
  const entries = names.map(([axis, name]) => html("li", {}, html("i", { class: axis }), name));
  const path = html("li", {}, html("i", { class: "heavy" }), "critical path: the chain that costs most");
  return html("ul", { class: "legend" }, ...entries, ...(used.size > 0 ? [path] : []));
}
