import { count, figureText, html, numeric, plotted, quiet, table } from "../shell/elements.client.ts";
import { sidePage } from "../shell/side.client.ts";
import { factorView } from "./factor_view.client.ts";
import { overview } from "./overview.client.ts";
import { stagePicture } from "./pictures.client.ts";
import { data, sourceOf } from "./words.client.ts";

const DIFFERENCE_LINES_MAX = 1500;

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
  const columns = ["pass", numeric("tasks after it"), numeric("lines changed")];
  return [
    html("h1", {}, "Passes of the compiler"),
    quiet(
      "From the formulas to the graph that is evaluated. Passes change no bit of a result. ",
      html("kbd", {}, "["),
      " and ",
      html("kbd", {}, "]"),
      " go through them.",
    ),
    plotted("picture of the passes", stagePicture(stages)),
    html("h2", {}, "Step by step"),
    html("div", { class: "steps", role: "group", "aria-label": "passes" }, ...steps),
    html(
      "section",
      { class: "detail", "aria-live": "polite" },
      html("h2", {}, stage.name),
      quiet(step === 0 ? "The first graph: a line for each task." : "Lines with - went, lines with + came."),
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
  if (location.hash === "#passes") showAgain();
  else location.hash = "#passes";
  document.querySelector<HTMLElement>('.steps [aria-pressed="true"]')?.focus();
}

function onKey(key: string): void {
  if (key === "[") toStep(location.hash === "#passes" ? step - 1 : step);
  if (key === "]") toStep(location.hash === "#passes" ? step + 1 : step);
}

const showAgain = sidePage({
  factors: data.factors.map(({ name, root, costNs }) => ({
    name,
    note: `${figureText(costNs)} ns`,
    formula: sourceOf(data.boxes[root]!),
  })),
  views: [
    ["", "Overview"],
    ["passes", "Passes"],
  ],
  show: (view, main) => (view === "passes" ? passesView() : overview(main.clientWidth - 74)),
  showFactor: factorView,
  onKey,
});
