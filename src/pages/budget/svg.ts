import { type SymbolType, symbol, symbolCircle, symbolDiamond, symbolSquare, symbolTriangle } from "d3-shape";

/** Colours of series, as the style of all pages has them for light and dark. */
export const COLOURS = [
  "var(--elementwise)",
  "var(--recursive)",
  "var(--rolling)",
  "var(--cross_section)",
  "var(--group)",
  "var(--bar)",
  "var(--ink)",
] as const;

/** What is not measured: rules, ideal lines, rests. */
export const EDGE = "var(--edge)";
/** The budget, wherever it is drawn. */
export const LIMIT = "var(--heavy)";
/** Marks of what is not reached. */
export const EMPTY = "var(--card)";

/** Shapes beside colours: charts can be read without either. */
const SYMBOLS: readonly SymbolType[] = [symbolCircle, symbolDiamond, symbolSquare, symbolTriangle];

type Attributes = Readonly<Record<string, string | number>>;

export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const written = Object.entries(attributes).map(([key, value]) => {
    return ` ${key}="${escapeXml(typeof value === "number" ? rounded(value) : value)}"`;
  });
  const head = `<${name}${written.join("")}`;
  return children.length === 0 ? `${head}/>` : `${head}>${children.join("")}</${name}>`;
}

type Anchor = "start" | "middle" | "end";

export function text(
  x: number,
  y: number,
  anchor: Anchor,
  content: string,
  attributes: Attributes = {},
): string {
  return element("text", { x, y, "text-anchor": anchor, ...attributes }, escapeXml(content));
}

/** A text that pointing at an element shows. */
export const titled = (content: string): string => element("title", {}, escapeXml(content));

export function line(x1: number, y1: number, x2: number, y2: number, attributes: Attributes = {}): string {
  return element("line", { x1, y1, x2, y2, stroke: "var(--line)", ...attributes });
}

/** The mark of a series, by its place among the series; with a title that pointing at it shows. */
export function mark(x: number, y: number, series: number, title = ""): string {
  const shape = symbol(SYMBOLS[series % SYMBOLS.length]!, 42)()!;
  return element(
    "path",
    { d: shape, transform: `translate(${rounded(x)} ${rounded(y)})`, fill: colourOf(series) },
    ...(title ? [titled(title)] : []),
  );
}

export const colourOf = (series: number): string => COLOURS[series % COLOURS.length]!;

export interface LegendEntry {
  readonly label: string;
  /** Drawn around the point 0, 0. */
  readonly drawing: string;
}

/** A chart under its title, with a list of what its marks mean. */
export interface Chart {
  readonly title: string;
  readonly legend: string;
  readonly picture: string;
}

/** Where plots begin. */
export const PLOT_Y = 8;

export function chart(
  { title, width, height }: { readonly title: string; readonly width: number; readonly height: number },
  legend: readonly LegendEntry[],
  ...children: readonly string[]
): Chart {
  const size = { viewBox: `0 0 ${rounded(width)} ${rounded(height)}`, width, height };
  const picture = element("svg", { ...size, role: "img", "aria-label": title }, ...children);
  const entries = legend.map(({ label, drawing }) => {
    const sample = { viewBox: "-10 -8 20 16", width: 20, height: 16, "aria-hidden": "true" };
    return `<li>${element("svg", sample, drawing)}${escapeXml(label)}</li>`;
  });
  return { title, legend: `<ul class="legend">${entries.join("")}</ul>`, picture };
}

export function escapeXml(content: string): string {
  return content
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Three digits, without a tail of zeros. */
export const figure = (value: number): string => {
  return Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString("en")
    : String(Number(value.toPrecision(3)));
};

/** Of an axis of logarithms: 1, 2, 5, 10, 20 ... within the ends. */
export function logTicks(least: number, most: number): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(least)); 10 ** power <= most; power++)
    for (const times of [1, 2, 5]) ticks.push(times * 10 ** power);
  return ticks.filter((tick) => tick >= least && tick <= most);
}

function rounded(value: number): string {
  return String(Number(value.toFixed(2)));
}
