import { type Child, type Column, headingOf, html, table } from "./elements.client.ts";

/** A row of a sortable table: `keys` has what each column is sorted by, null for nothing. */
export interface SortableRow {
  readonly cells: readonly Child[];
  readonly keys: readonly (number | string | null)[];
  /** What the search of the table looks at. */
  readonly searched: string;
}

/** Rows that are shown at first; sorting and searching see all. */
const ROWS_MAX = 150;

/**
 * A table with a search above it and a button in each heading: numbers are sorted from the largest, texts from the first, a
 * second press turns that around. Rows without a key come last.
 */
export function sortableTable(
  caption: string,
  columns: readonly Column[],
  rows: readonly SortableRow[],
  searchLabel: string,
): HTMLElement {
  let sorted: { readonly column: number; readonly isDescending: boolean } | null = null;
  let isWhole = false;
  const search = html("input", {
    type: "search",
    "aria-label": searchLabel,
    placeholder: searchLabel,
    input: fill,
  });
  const found = html("span", { class: "quiet", role: "status" });
  const buttons = columns.map((column, i) =>
    html("button", { type: "button", class: "sort", click: () => sortBy(i) }, headingOf(column)),
  );
  const whole = table(
    caption,
    columns,
    rows.map(({ cells }) => cells),
    buttons,
  );
  const heads = whole.querySelectorAll("th");
  const body = whole.querySelector("tbody")!;
  const elements = [...body.rows];
  const more = html("button", { type: "button", click: showAll });

  function sortBy(column: number): void {
    const isSame = sorted?.column === column;
    sorted = { column, isDescending: isSame ? !sorted!.isDescending : typeof columns[column] !== "string" };
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
    const shown = [...rows.keys()].filter((row) => rows[row]!.searched.toLowerCase().includes(wanted));
    if (sorted !== null) {
      const { column, isDescending } = sorted;
      shown.sort((a, b) => compared(rows[a]!.keys[column]!, rows[b]!.keys[column]!, isDescending));
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
