import { figureText, html, schemeButton, table } from "../shell/elements.client.ts";
import { factorView } from "./factor_view.client.ts";
import { overview } from "./overview.client.ts";
import { stagePicture } from "./pictures.client.ts";
import { count, data, sourceOf } from "./words.client.ts";

const DIFFERENCE_LINES_MAX = 1500;

const main = html("main", { tabindex: -1 });
const search = html("input", { type: "search", id: "search", placeholder: "name or formula", input: filter });
const noMatch = html("p", { class: "quiet", role: "status" });
const links = data.factors.map((factor, i) => {
  const cost = html("span", { class: "quiet" }, `${figureText(factor.costNs)} ns`);
  return html("li", {}, html("a", { href: `#factor/${i}` }, html("span", {}, factor.name), cost));
});
const list = html("ul", { "aria-label": "factors" }, ...links);
let step = 0;

function passesView(): HTMLElement[] {
  const { stages } = data;
  const stage = stages[step]!;
  const shown = stage.lines.slice(0, DIFFERENCE_LINES_MAX);
  const kind = (line: string) => (step === 0 ? "" : line.startsWith("-") ? "gone" : "come");
  const lines = shown.map((line) => html("span", { class: kind(line) }, `${line}\n`));
  const rest = stage.lines.length - shown.length;
  const steps = stages.map(({ name }, i) =>
    html(
      "button",
      { type: "button", "aria-pressed": String(i === step), click: () => toStep(i) },
      `${i + 1}. ${name}`,
    ),
  );
  const rows = stages.map(({ name, tasks, lines: all }, i) => [name, tasks, i === 0 ? "" : all.length]);
  const columns = [
    { heading: "pass" },
    { heading: "tasks after it", isNumber: true },
    { heading: "lines changed", isNumber: true },
  ];
  const plot = html("div", {
    class: "plot",
    tabindex: 0,
    role: "region",
    "aria-label": "picture of the passes",
  });
  plot.append(stagePicture(stages));
  return [
    html("h1", {}, "Passes of the compiler"),
    html(
      "p",
      { class: "quiet" },
      "From the formulas to the graph that is evaluated. Passes change no bit of a result. ",
      html("kbd", {}, "["),
      " and ",
      html("kbd", {}, "]"),
      " go through them.",
    ),
    html("figure", {}, plot),
    html("h2", {}, "Step by step"),
    html("div", { class: "steps", role: "group", "aria-label": "passes" }, ...steps),
    html(
      "section",
      { class: "detail", "aria-live": "polite" },
      html("h2", {}, stage.name),
      html(
        "p",
        { class: "quiet" },
        step === 0 ? "The first graph: a line for each task." : "Lines with - went, lines with + came.",
      ),
      ...(stage.lines.length === 0
        ? [html("p", {}, "This pass found nothing to change.")]
        : [html("pre", {}, ...lines)]),
      ...(rest > 0 ? [html("p", {}, `${count(rest, "more line")}: explain --passes prints all.`)] : []),
    ),
    html("h2", {}, "All passes"),
    table("Tasks after each pass", columns, rows),
  ];
}

function toStep(next: number): void {
  step = Math.min(data.stages.length - 1, Math.max(0, next));
  if (location.hash === "#passes") show();
  else location.hash = "#passes";
  main.querySelector<HTMLElement>('.steps [aria-pressed="true"]')?.focus();
}

function filter(): void {
  const wanted = search.value.trim().toLowerCase();
  let found = 0;
  data.factors.forEach(({ name, root }, i) => {
    const isFound =
      name.toLowerCase().includes(wanted) || sourceOf(data.boxes[root]!).toLowerCase().includes(wanted);
    links[i]!.hidden = !isFound;
    if (isFound) found += 1;
  });
  noMatch.textContent =
    found === 0 ? "No factor has this in its name or formula." : wanted === "" ? "" : count(found, "factor");
}

function show(): void {
  const [view, index = "0"] = location.hash.slice(1).split("/");
  const isFactor = view === "factor" && data.factors[Number(index)] !== undefined;
  if (isFactor) main.replaceChildren(...factorView(Number(index), main));
  else main.replaceChildren(...(view === "passes" ? passesView() : overview(main.clientWidth - 74)));
  const current = isFactor ? `#factor/${Number(index)}` : view === "passes" ? "#passes" : "#";
  for (const link of document.querySelectorAll(".side a")) {
    if (link.getAttribute("href") === current) {
      link.setAttribute("aria-current", "page");
      if (isFactor) reveal(link);
    } else link.removeAttribute("aria-current");
  }
}

/** Scrolls the list of factors to a link, and nothing else. */
function reveal(link: Element): void {
  const [inner, outer] = [link.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inner.top < outer.top) list.scrollTop += inner.top - outer.top;
  if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom;
}

function onKey(event: KeyboardEvent): void {
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
  if (event.key === "[") toStep(location.hash === "#passes" ? step - 1 : step);
  if (event.key === "]") toStep(location.hash === "#passes" ? step + 1 : step);
}

document.body.append(
  html(
    "header",
    { class: "side" },
    html(
      "nav",
      { "aria-label": "views" },
      html("a", { href: "#" }, "Overview"),
      html("a", { href: "#passes" }, "Passes"),
    ),
    html("label", { for: "search" }, "Search ", html("kbd", {}, "/")),
    search,
    noMatch,
    list,
    html("div", { class: "bottom" }, schemeButton()),
  ),
  main,
);
addEventListener("hashchange", () => {
  show();
  scrollTo(0, 0);
});
addEventListener("keydown", onKey);
show();
