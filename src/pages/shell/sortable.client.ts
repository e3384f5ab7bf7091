import { type Child, type Column, headingOf, html, table } from "./elements.client.ts";

/** A column of a sortable table: what it shows of an item, and what it is sorted by, null for nothing. */
export type SortableColumn<Item> = readonly [
  column: Column,
  cellOf: (item: Item, index: number) => Child,
  keyOf: (item: Item) => number | string | null,
];

/** Rows that are shown at first; sorting and searching see all. */
const ROWS_MAX = 150;

/**
 * A table with a search above it and a button in each heading: numbers are sorted from the largest, texts from the first, a
 * second press turns that around. Rows without a key come last.
 *
 * @param searchedOf what the search looks at
 */
export function sortableTable<Item>(
  caption: string,
  columns: readonly SortableColumn<Item>[],
  items: readonly Item[],
  searchedOf: (item: Item) => string,
  searchLabel: string,
): HTMLElement {
  const kinds = columns.map(([column]) => column);
  let sorted: { readonly column: number; readonly isDescending: boolean } | null = null;
  let isWhole = false;
  const search = html("input", {
    type: "search",
    "aria-label": searchLabel,
    placeholder: searchLabel,
    input: fill,
  });
  const found = html("span", { class: "quiet", role: "status" });
  const buttons = kinds.map((column, i) =>
    html("button", { type: "button", class: "sort", click: () => sortBy(i) }, headingOf(column)),
  );
  const whole = table(
    caption,
    kinds,
    items.map((item, i) => columns.map(([, cellOf]) => cellOf(item, i))),
    buttons,
  );
  const heads = whole.querySelectorAll("th");
  const body = whole.querySelector("tbody")!;
  const elements = [...body.rows];
  const more = html("button", { type: "button", click: showAll });

  function sortBy(column: number): void {
    const isSame = sorted?.column === column;
    sorted = { column, isDescending: isSame ? !sorted!.isDescending : typeof kinds[column] !== "string" };
    heads.forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", sorted!.isDescending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    fill();
  }

  function showAll(): void {
    isWhole = true;
    fill();
  }

  function fill(): void {
    const wanted = search.value.trim().toLowerCase();
    const shown = [...items.keys()].filter((row) => searchedOf(items[row]!).toLowerCase().includes(wanted));
    if (sorted !== null) {
      const { column, isDescending } = sorted;
      const [, , keyOf] = columns[column]!;
      shown.sort((a, b) => compared(keyOf(items[a]!), keyOf(items[b]!), isDescending));
    }
    body.replaceChildren(...shown.slice(0, isWhole ? shown.length : ROWS_MAX).map((row) => elements[row]!));
    more.textContent = `Show all ${shown.length.toLocaleString("en")} rows`;
    more.hidden = isWhole || shown.length <= ROWS_MAX;
    found.textContent = wanted === "" ? "" : `${shown.length.toLocaleString("en")} found`;
  }

  fill();
  return html("div", { class: "sortable" }, html("div", { class: "tools" }, search, found), whole, more);
}

function compared(a: number | string | null, b: number | string | null, isDescending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order =
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en");
  return isDescending ? -order : order;
}
