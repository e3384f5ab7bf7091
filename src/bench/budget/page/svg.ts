import { type SymbolType, symbol, symbolCircle, symbolDiamond, symbolSquare, symbolTriangle } from "d3-shape";

/** Okabe and Ito (2008): colours that all can distinguish; without yellow, which is too light for lines on white. */
export const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"] as const;

export const INK = "#222222";
export const MUTED = "#555555";
const RULE = "#dddddd";
/** The budget, wherever it is drawn. */
export const LIMIT = "#b00020";

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

export function text(x: number, y: number, content: string, attributes: Attributes = {}): string {
  return element("text", { x, y, fill: MUTED, ...attributes }, escapeXml(content));
}

export function line(x1: number, y1: number, x2: number, y2: number, attributes: Attributes = {}): string {
  return element("line", { x1, y1, x2, y2, stroke: RULE, ...attributes });
}

/** The mark of a series, by its place among the series; with a title that pointing at it shows. */
export function mark(x: number, y: number, series: number, title = ""): string {
  const shape = symbol(SYMBOLS[series % SYMBOLS.length]!, 42)()!;
  return element(
    "path",
    { d: shape, transform: `translate(${rounded(x)} ${rounded(y)})`, fill: colourOf(series) },
    ...(title ? [element("title", {}, escapeXml(title))] : []),
  );
}

export const colourOf = (series: number): string => COLOURS[series % COLOURS.length]!;

export interface LegendEntry {
  readonly label: string;
  /** Drawn around the point 0, 0. */
  readonly drawing: string;
}

/** Entries side by side, from a place on to the right. */
export function legend(x: number, y: number, entries: readonly LegendEntry[]): string {
  let next = x;
  const drawn = entries.map(({ label, drawing }) => {
    const at = next;
    next += 34 + 6.8 * label.length;
    return element(
      "g",
      { transform: `translate(${rounded(at)} ${y})` },
      element("g", { transform: "translate(8 -4)" }, drawing),
      text(20, 0, label, { fill: INK }),
    );
  });
  return drawn.join("");
}

export interface Drawing {
  readonly title: string;
  readonly width: number;
  readonly height: number;
}

/** Where the charts' legends and plots begin, below the title. */
export const LEGEND_Y = 52;
export const PLOT_Y = 78;

/** A chart of its own, with its title at the top. */
export function drawing({ title, width, height }: Drawing, ...children: readonly string[]): string {
  const size = { viewBox: `0 0 ${rounded(width)} ${rounded(height)}`, width, height };
  const look = { "font-family": "system-ui, sans-serif", "font-size": 12, role: "img" };
  return element(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", ...size, ...look, "aria-label": title },
    element("rect", { width: "100%", height: "100%", fill: "#ffffff" }),
    text(12, 26, title, { fill: INK, "font-size": 16, "font-weight": 600 }),
    ...children,
  );
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
