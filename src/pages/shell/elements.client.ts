/** What pages are built with: elements whose texts are texts. */

export type Child = Node | string | number;
type Attributes = Readonly<Record<string, string | number | boolean | EventListener>>;

const SVG = "http://www.w3.org/2000/svg";

/** The data that the page was made with. */
export function readData<T>(): T {
  return JSON.parse(document.getElementById("data")?.textContent ?? "null") as T;
}

/** An element of HTML; functions are listeners, `false` leaves an attribute out. */
export function html<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children);
}

/** An element of SVG. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS(SVG, tag) as SVGElementTagNameMap[K], attributes, children);
}

function filled<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.map((child) => (typeof child === "number" ? String(child) : child)));
  return element;
}

/** A paragraph that says what is meant by the others. */
export const quiet = (...children: Child[]): HTMLElement => html("p", { class: "quiet" }, ...children);

/** A picture with a name for those who do not see it. */
export function drawn(
  label: string,
  [width, height]: readonly [number, number],
  attributes: Attributes,
  ...children: Child[]
): SVGElement {
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  return svg("svg", { role: "img", "aria-label": label, ...size, ...attributes }, ...children);
}

/** A text in a picture; its anchor is `start`, `middle` or `end`. */
export const label = (x: number, y: number, anchor: string, text: string): SVGElement =>
  svg("text", { x, y, "text-anchor": anchor }, text);

/** The heading of a column of texts, or a column of numbers. */
export type Column = string | { readonly numbers: string };

/** A column of numbers. */
export const numeric = (heading: string): Column => ({ numbers: heading });

export const headingOf = (column: Column): string => (typeof column === "string" ? column : column.numbers);

/**
 * A table that scrolls by itself where it is wider than the page.
 *
 * @param headings what stands in the place of the columns' texts
 */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Child[])[],
  headings: readonly Child[] = columns.map(headingOf),
): HTMLElement {
  const kind = (i: number) => (typeof columns[i] === "string" ? "" : "number");
  const head = headings.map((heading, i) => html("th", { scope: "col", class: kind(i) }, heading));
  const body = rows.map((cells) =>
    html("tr", {}, ...cells.map((cell, i) => html("td", { class: kind(i) }, cell))),
  );
  return html(
    "div",
    { class: "wide", tabindex: 0, role: "region", "aria-label": caption },
    html(
      "table",
      {},
      html("caption", {}, caption),
      html("thead", {}, html("tr", {}, ...head)),
      html("tbody", {}, ...body),
    ),
  );
}

/** A picture that scrolls by itself where it is larger than the page. */
export function plotted(label: string, picture: Element): HTMLElement {
  const attributes = { class: "plot", tabindex: 0, role: "region", "aria-label": label };
  return html("figure", {}, html("div", attributes, picture));
}

export function facts(pairs: readonly (readonly [string, string])[]): HTMLElement {
  const entries = pairs.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value)));
  return html("dl", { class: "facts" }, ...entries);
}

/** A table that begins with its first rows, and a button for the others. */
export function limited(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Child[])[],
  rowsMax: number,
): HTMLElement {
  const holder = html("div", {}, table(caption, columns, rows.slice(0, rowsMax)));
  if (rows.length <= rowsMax) return holder;
  const show = () => holder.replaceChildren(table(caption, columns, rows));
  const text = `Show all ${rows.length.toLocaleString("en")} rows`;
  holder.append(html("p", {}, html("button", { type: "button", click: show }, text)));
  return holder;
}

const SCHEMES = ["system", "light", "dark"] as const;

/** A button that goes through the system's scheme, light and dark. */
export function schemeButton(): HTMLElement {
  let index = 0;
  const text = () => `Colours: ${SCHEMES[index]!}`;
  const change = () => {
    index = (index + 1) % SCHEMES.length;
    button.textContent = text();
    // The style knows no scheme `system`: the system's holds then.
    document.documentElement.dataset["scheme"] = SCHEMES[index]!;
  };
  const button = html("button", { type: "button", class: "scheme", click: change }, text());
  return button;
}

/** `1234.5` -> `1,235`; small figures keep two digits. */
export function figureText(value: number): string {
  const digits = value === 0 || Math.abs(value) >= 10 ? 0 : Math.abs(value) >= 1 ? 1 : 2;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

/** `1536` -> `1.5 KiB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(3, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${figureText(bytes / 2 ** (10 * power))} ${["bytes", "KiB", "MiB", "GiB"][power]}`;
}

export const count = (value: number, noun: string): string =>
  `${value.toLocaleString("en")} ${noun}${value === 1 ? "" : "s"}`;

/** Its first characters and an ellipsis where it is longer. */
export function shortened(text: string, charactersMax: number): string {
  return text.length > charactersMax ? `${text.slice(0, Math.max(1, charactersMax - 1))}…` : text;
}
