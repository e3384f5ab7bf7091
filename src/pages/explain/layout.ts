import { graphlib, layout } from "@dagrejs/dagre";
import { line } from "d3-shape";
import type { Drawing, DrawnEdge } from "./explain_data.ts";
import { operandMark, type WrittenBox } from "./written_boxes.ts";

/** Beyond this a picture cannot be read any more, and laying it out takes seconds; the table has it all. */
const DRAWN_BOXES_MAX = 150;

const CHARACTER_WIDTH = 7.25;
const PADDING = 30;
const LABEL_CHARACTERS_MAX = 44;
const LABEL_CHARACTERS_MIN = 17;
const HEIGHT = 46;

/** Lays a factor's boxes out from the root down, operands from left to right; null if there are too many. */
export function drawingOf(ids: readonly number[], boxes: readonly WrittenBox[]): Drawing | null {
  if (ids.length > DRAWN_BOXES_MAX) return null;
  const graph = new graphlib.Graph({ directed: true });
  graph.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 26, marginx: 6, marginy: 6 });
  for (const id of ids) graph.setNode(String(id), { width: widthOf(boxes[id]!.label), height: HEIGHT });
  const marks = marksOf(ids, boxes);
  // Layout puts what was added first to the right.
  for (const { from, to, label } of marks.toReversed())
    graph.setEdge(String(from), String(to), { width: 16 * label.length, height: 16, labelpos: "c" });
  layout(graph, { constraints: inOrder(ids, boxes) });
  const { width = 0, height = 0 } = graph.graph();
  return {
    width: Math.ceil(width),
    height: Math.ceil(height),
    places: ids.map((id) => {
      const { x, y, width: boxWidth, height: boxHeight } = graph.node(String(id));
      return [round(x), round(y), boxWidth, boxHeight];
    }),
    edges: marks.map(({ from, to, label }) => {
      const { points, x, y } = graph.edge(String(from), String(to));
      return { from, to, label, labelAt: [round(x), round(y)], path: pathOf(points) };
    }),
  };
}

/**
 * Each operand is left of the next one. Operands that several boxes use are left out: their orders may contradict each
 * other, and layout fails then.
 */
function inOrder(ids: readonly number[], boxes: readonly WrittenBox[]): { left: string; right: string }[] {
  const users = Map.groupBy(
    ids.flatMap((id) => [...new Set(boxes[id]!.operands)]),
    (operand) => operand,
  );
  return ids.flatMap((id) => {
    const own = [...new Set(boxes[id]!.operands)].filter((operand) => users.get(operand)!.length === 1);
    return own.slice(1).map((right, i) => ({ left: String(own[i]), right: String(right) }));
  });
}

/** One edge for each pair of boxes, with the numbers of all operands that it stands for. */
function marksOf(
  ids: readonly number[],
  boxes: readonly WrittenBox[],
): Pick<DrawnEdge, "from" | "to" | "label">[] {
  return ids.flatMap((from) => {
    const labels = new Map<number, string>();
    for (const [i, to] of boxes[from]!.operands.entries())
      labels.set(to, (labels.get(to) ?? "") + operandMark(i));
    return [...labels].map(([to, label]) => ({ from, to, label }));
  });
}

function widthOf(label: string): number {
  const characters = Math.min(LABEL_CHARACTERS_MAX, Math.max(LABEL_CHARACTERS_MIN, label.length));
  return Math.ceil(characters * CHARACTER_WIDTH + PADDING);
}

function pathOf(points: readonly { x: number; y: number }[]): string {
  const path = line<{ x: number; y: number }>(
    ({ x }) => round(x),
    ({ y }) => round(y),
  );
  return path(points as { x: number; y: number }[]) ?? "";
}

const round = (value: number): number => Math.round(value * 10) / 10;
