import { html, readData, table } from "../shell/elements.client.ts";
import type { Box, ExplainData } from "./explain_data.ts";

/** What the page says of places, factors and counts. */

export const data = readData<ExplainData>();

export const count = (value: number, noun: string): string =>
  `${value.toLocaleString("en")} ${noun}${value === 1 ? "" : "s"}`;

export function sourceOf({ start, end }: Box): string {
  return data.source.slice(start, end).replaceAll(/\s+/g, " ");
}

export function placeOf({ line, column }: { readonly line: number; readonly column: number }): string {
  return `${data.file}:${line}:${column}`;
}

export function factorLink(index: number): HTMLElement {
  return html("a", { href: `#factor/${index}` }, data.factors[index]!.name);
}

/** Links to the first factors and how many there are beyond them. */
export function factorLinks(indices: readonly number[], countMax: number): HTMLElement {
  const shown = indices.slice(0, countMax).flatMap((index, i) => [i > 0 ? ", " : "", factorLink(index)]);
  const more =
    indices.length > countMax ? [` and ${(indices.length - countMax).toLocaleString("en")} more`] : [];
  return html("span", {}, ...shown, ...more);
}

export function facts(pairs: readonly (readonly [string, string])[]): HTMLElement {
  const entries = pairs.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value)));
  return html("dl", { class: "facts" }, ...entries);
}

/** A table that begins with its first rows, and a button for the others. */
export function limited(
  caption: string,
  columns: Parameters<typeof table>[1],
  rows: Parameters<typeof table>[2],
  rowsMax: number,
): HTMLElement {
  const holder = html("div", {}, table(caption, columns, rows.slice(0, rowsMax)));
  if (rows.length <= rowsMax) return holder;
  const show = () => holder.replaceChildren(table(caption, columns, rows));
  holder.append(
    html(
      "p",
      {},
      html("button", { type: "button", click: show }, `Show all ${rows.length.toLocaleString("en")} rows`),
    ),
  );
  return holder;
}
