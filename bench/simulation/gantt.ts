import type { SimulatedNode, SimulatedPart } from "./simulation.ts";

export interface GanttOptions {
  readonly title: string;
  readonly subtitle: string;
  readonly executors: number;
  readonly blocks: number;
}

const PLOT_WIDTH = 1200;
const PLOT_HEIGHT_MAX = 800;
const ROW_HEIGHT_MAX = 22;
const LEFT = 64;
const RIGHT = 24;
const TOP = 92;
const BOTTOM = 52;

/** Neighbours of one kind are drawn as one bar where they are finer than this, in pixels. */
const FINEST = 0.4;

/** Narrower bars have no name to point at. */
const NAMED_WIDTH_MIN = 2;

/** Of Okabe and Ito (2008): everyone can distinguish them. */
const COLOURS = ["#7f7f7f", "#0072b2", "#e69f00", "#009e73", "#cc79a7"] as const;

/** Blocks under way together differ: shares of the colour, the rest is white. */
const TINTS = [1, 0.68, 0.42] as const;

interface Bar {
  readonly part: SimulatedPart;
  readonly kind: number;
  readonly tint: number;
  readonly x: number;
  end: number;
  count: number;
}

/** A chart of what each executor runs when, as an SVG file of its own. */
export function ganttSvg(
  nodes: readonly SimulatedNode[],
  parts: readonly SimulatedPart[],
  { title, subtitle, executors, blocks }: GanttOptions,
): string {
  const kinds = [...new Set(nodes.map(({ kind }) => kind))].sort();
  const endNs = parts.reduce((latest, { end }) => Math.max(latest, end), 1);
  const scale = PLOT_WIDTH / endNs;
  const row = Math.min(ROW_HEIGHT_MAX, PLOT_HEIGHT_MAX / executors);
  const [width, height] = [LEFT + PLOT_WIDTH + RIGHT, TOP + row * executors + BOTTOM];
  const bars = barsOf(nodes, parts, kinds, scale);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${round(height)}" width="${width}" height="${round(height)}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="${LEFT}" y="28" font-size="18" font-weight="600" fill="#222">${escapeXml(title)}</text>`,
    `<text x="${LEFT}" y="48" fill="#555">${escapeXml(subtitle)}</text>`,
    legend(kinds, blocks),
    timeAxis(endNs, scale, row * executors),
    executorAxis(executors, row),
    ...bars.map((bar) => barMark(bar, nodes, row)),
    "</svg>\n",
  ].join("\n");
}

/** Bars by executor and time, the finest joined. */
function barsOf(
  nodes: readonly SimulatedNode[],
  parts: readonly SimulatedPart[],
  kinds: readonly string[],
  scale: number,
): Bar[] {
  const last = new Map<number, Bar>();
  const bars: Bar[] = [];
  for (const part of [...parts].sort((a, b) => a.start - b.start)) {
    const kind = kinds.indexOf(nodes[part.node]!.kind);
    const tint = part.block % TINTS.length;
    const [x, end] = [part.start * scale, part.end * scale];
    const before = last.get(part.executor);
    const isFine = before && end - before.x < FINEST && x - before.end < FINEST;
    if (isFine && before.kind === kind && before.tint === tint) {
      before.end = end;
      before.count++;
      continue;
    }
    const bar = { part, kind, tint, x, end, count: 1 };
    last.set(part.executor, bar);
    bars.push(bar);
  }
  return bars;
}

function barMark(
  { part, kind, tint, x, end, count }: Bar,
  nodes: readonly SimulatedNode[],
  row: number,
): string {
  const gap = row > 6 ? 1 : 0.2 * row;
  const width = Math.max(end - x, 0.15);
  // A little air, so that neighbours of one colour can be distinguished.
  const drawn = width > NAMED_WIDTH_MIN ? width - 0.5 : width;
  const shape = `<rect x="${round(LEFT + x)}" y="${round(TOP + part.executor * row)}" width="${round(drawn)}" height="${round(row - gap)}" fill="${fillOf(kind, tint)}"`;
  if (width < NAMED_WIDTH_MIN || count > 1) return `${shape}/>`;
  const { block, node, part: number, start } = part;
  const where = `${nodes[node]!.kind} node ${node}, part ${number}, block ${block}`;
  return `${shape}><title>${where}: ${timeText(start)}, ${timeText(part.end - start)} long</title></rect>`;
}

function legend(kinds: readonly string[], blocks: number): string {
  const tints = TINTS.slice(0, blocks);
  let x = LEFT;
  const entries = kinds.map((kind, index) => {
    const swatches = tints.map((_, tint) => {
      return `<rect x="${x + 14 * tint}" y="62" width="13" height="13" fill="${fillOf(index, tint)}"/>`;
    });
    const textX = x + 14 * tints.length + 5;
    x = textX + 8 * kind.length + 22;
    return `${swatches.join("")}<text x="${textX}" y="73" fill="#222">${escapeXml(kind)}</text>`;
  });
  const note =
    blocks > 1 ? `<text x="${x}" y="73" fill="#555">shades: blocks one after the other</text>` : "";
  return entries.join("") + note;
}

function timeAxis(endNs: number, scale: number, plotHeight: number): string {
  const { unit, name } = unitOf(endNs);
  const step = stepOf(endNs / unit / 10);
  const marks: string[] = [];
  for (let tick = 0; tick * step * unit <= endNs; tick++) {
    const x = round(LEFT + tick * step * unit * scale);
    const label = Number((tick * step).toPrecision(6));
    marks.push(
      `<line x1="${x}" x2="${x}" y1="${TOP - 4}" y2="${round(TOP + plotHeight + 4)}" stroke="#ddd" stroke-width="1"/>`,
      `<text x="${x}" y="${round(TOP + plotHeight + 18)}" text-anchor="middle" fill="#555">${label}</text>`,
    );
  }
  const middle = LEFT + PLOT_WIDTH / 2;
  marks.push(
    `<text x="${middle}" y="${round(TOP + plotHeight + 38)}" text-anchor="middle" fill="#222">time (${name})</text>`,
  );
  return marks.join("\n");
}

function executorAxis(executors: number, row: number): string {
  const every = stepOf(12 / row);
  const labels: string[] = [];
  for (let executor = 0; executor < executors; executor += Math.max(1, every)) {
    const y = round(TOP + (executor + 0.5) * row + 4);
    labels.push(`<text x="${LEFT - 8}" y="${y}" text-anchor="end" fill="#555">${executor}</text>`);
  }
  const middle = round(TOP + (row * executors) / 2);
  labels.push(
    `<text transform="translate(16 ${middle}) rotate(-90)" text-anchor="middle" fill="#222">executor</text>`,
  );
  return labels.join("\n");
}

/** The least of 1, 2, 5, 10 ... that is not less. */
function stepOf(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least * (1 - 1e-9))!;
}

function unitOf(ns: number): { readonly unit: number; readonly name: string } {
  if (ns >= 2e9) return { unit: 1e9, name: "s" };
  if (ns >= 2e6) return { unit: 1e6, name: "ms" };
  return ns >= 2e3 ? { unit: 1e3, name: "us" } : { unit: 1, name: "ns" };
}

function timeText(ns: number): string {
  const { unit, name } = unitOf(ns);
  return `${Number((ns / unit).toPrecision(4))} ${name}`;
}

function fillOf(kind: number, tint: number): string {
  const colour = COLOURS[kind % COLOURS.length]!;
  const share = TINTS[tint]!;
  const channels = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16);
    return Math.round(255 - share * (255 - value))
      .toString(16)
      .padStart(2, "0");
  });
  return `#${channels.join("")}`;
}

const round = (value: number): number => Number(value.toFixed(2));

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
