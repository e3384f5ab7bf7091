import { count, html, schemeButton } from "./elements.client.ts";

/** A factor in the list at the side. */
export interface ListedFactor {
  readonly name: string;
  /** Beside the name. */
  readonly note: string;
  /** What the search looks at beside the name. */
  readonly formula: string;
}

/** A page of views with a list of factors at its side. */
export interface SidePage {
  readonly factors: readonly ListedFactor[];
  /** Views beside those of factors, the first one by default: their part of the address and their names. */
  readonly views: readonly (readonly [address: string, name: string])[];
  /** The elements of a view; `main` is where they will be. */
  readonly show: (view: string, main: HTMLElement) => HTMLElement[];
  /** The elements of the view of a factor. */
  readonly showFactor: (factor: number, main: HTMLElement) => HTMLElement[];
  /** Keys beside `/`, `Enter` and `Escape`, which belong to the search. */
  readonly onKey?: (key: string) => void;
}

/** Fills the page; returns what shows the view of the address again. */
export function sidePage({ factors, views, show, showFactor, onKey }: SidePage): () => void {
  const main = html("main", { tabindex: -1 });
  const search = html("input", {
    type: "search",
    id: "search",
    placeholder: "name or formula",
    input: filter,
  });
  const noMatch = html("p", { class: "quiet", role: "status" });
  const links = factors.map(({ name, note }, i) => {
    const quiet = html("span", { class: "quiet" }, note);
    return html("li", {}, html("a", { href: `#factor/${i}` }, html("span", {}, name), quiet));
  });
  const list = html("ul", { "aria-label": "factors" }, ...links);

  function filter(): void {
    const wanted = search.value.trim().toLowerCase();
    const found = factors.map(({ name, formula }) => `${name}\n${formula}`.toLowerCase().includes(wanted));
    found.forEach((isFound, i) => {
      links[i]!.hidden = !isFound;
    });
    const foundCount = found.filter(Boolean).length;
    noMatch.textContent =
      foundCount === 0
        ? "No factor has this in its name or formula."
        : wanted === ""
          ? ""
          : count(foundCount, "factor");
  }

  function showAddress(): void {
    const [view = "", index = "0"] = location.hash.slice(1).split("/");
    const isFactor = view === "factor" && factors[Number(index)] !== undefined;
    const known = views.some(([address]) => address === view) ? view : views[0]![0];
    main.replaceChildren(...(isFactor ? showFactor(Number(index), main) : show(known, main)));
    const current = isFactor ? `#factor/${Number(index)}` : `#${known}`;
    for (const link of document.querySelectorAll(".side a")) {
      if (link.getAttribute("href") === current) {
        link.setAttribute("aria-current", "page");
        if (isFactor) reveal(link, list);
      } else link.removeAttribute("aria-current");
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (search.value !== "") {
        search.value = "";
        filter();
      } else if (event.target === search) search.blur();
      else location.hash = "#";
    }
    if (event.target === search) {
      const first = links.findIndex((link) => !link.hidden);
      if (event.key === "Enter" && first >= 0) location.hash = `#factor/${first}`;
      return;
    }
    if (event.key === "/") {
      event.preventDefault();
      search.focus();
    }
    onKey?.(event.key);
  }

  const nav = views.map(([address, name]) => html("a", { href: `#${address}` }, name));
  document.body.append(
    html(
      "header",
      { class: "side" },
      html("nav", { "aria-label": "views" }, ...nav),
      html("label", { for: "search" }, "Search ", html("kbd", {}, "/")),
      search,
      noMatch,
      list,
      html("div", { class: "bottom" }, schemeButton()),
    ),
    main,
  );
  addEventListener("hashchange", () => {
    showAddress();
    scrollTo(0, 0);
  });
  addEventListener("keydown", onKeyDown);
  showAddress();
  return showAddress;
}

/** Scrolls the list of factors to a link, and nothing else. */
function reveal(link: Element, list: HTMLElement): void {
  const [inner, outer] = [link.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inner.top < outer.top) list.scrollTop += inner.top - outer.top;
  if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom;
}

export function factorLink(factors: readonly { readonly name: string }[], index: number): HTMLElement {
  return html("a", { href: `#factor/${index}` }, factors[index]!.name);
}

/** Links to the first factors and how many there are beyond them. */
export function factorLinks(
  factors: readonly { readonly name: string }[],
  indices: readonly number[],
  countMax: number,
): HTMLElement {
  const links = indices.slice(0, countMax).map((index) => factorLink(factors, index));
  const shown = links.flatMap((link, i) => [i > 0 ? ", " : "", link]);
  const rest = indices.length - links.length;
  return html("span", {}, ...shown, ...(rest > 0 ? [` and ${rest.toLocaleString("en")} more`] : []));
}
