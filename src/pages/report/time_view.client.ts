import { bytesText, count, facts, html, numeric, quiet, table } from "../shell/elements.client.ts";
import { factorLinks } from "../shell/side.client.ts";
import { type SortableColumn, sortableTable } from "../shell/sortable.client.ts";
import { shareBar, timelinePicture } from "./charts.client.ts";
import type { NodeData } from "./report_data.ts";
import { data, msText, pictured, shareText, whole } from "./words.client.ts";

/** What kinds of work mean, in the order of the legend. */
const WORKS: Readonly<Record<string, string>> = {
  input: "bars into columns",
  lanes: "along time",
  rows: "across instruments",
  scheduler: "scheduling",
  prepare: "start, plan, compile",
  read: "reading bars",
  write: "writing results",
};

/** Where the time went: steps, threads, nodes. */
export function timeView(width: number): HTMLElement[] {
  const { steps, machine, timeline, nodes } = data;
  const executors = timeline.tracks.filter(({ name }) => name.startsWith("executor"));
  const peak = Math.max(0, ...timeline.residentBytes);
  return [
    html("h1", {}, "Time and memory"),
    quiet(
      `factorloom ${machine.version}, Node ${machine.node}, ${machine.cpu}, ${count(machine.cores, "core")}, ${bytesText(machine.memoryBytes)}.`,
    ),
    facts([
      ["executor threads", whole(executors.length)],
      ["work of nodes", msText(nodes.reduce((sum, { ms }) => sum + ms, 0))],
      ["columns and windows", bytesText(nodes.reduce((sum, { bytes }) => sum + bytes, 0))],
      ["largest resident memory", bytesText(peak)],
    ]),
    html("h2", {}, "Steps"),
    stepTable(),
    timelineSection(width),
    html("h2", {}, "Nodes"),
    quiet(
      "A node is what threads get as one piece: tasks along time, or one task across instruments. Its time is that of all threads together; its memory does not grow with the rows.",
    ),
    nodeTable(),
  ];

  function stepTable(): HTMLElement {
    const total = steps.reduce((sum, { ms }) => sum + ms, 0);
    const rows = steps.map(({ name, ms }) => [name, shareBar(ms / total), msText(ms), shareText(ms, total)]);
    const columns = ["step", "part", numeric("time"), numeric("share")];
    return table("Steps in their order; counting nulls is for this page alone", columns, rows);
  }
}

function timelineSection(width: number): HTMLElement {
  const { timeline } = data;
  const wallMs = timeline.binMs * timeline.residentBytes.length;
  const kinds = new Set(timeline.tracks.flatMap(({ works }) => works.map(({ kind }) => kind)));
  const legend = Object.entries(WORKS)
    .filter(([kind]) => kinds.has(kind))
    .map(([kind, meaning]) => html("li", {}, html("i", { class: `work ${kind}` }), meaning));
  const rows = timeline.tracks.flatMap(({ name, works }) =>
    works.map(({ kind, ms }) => [name, WORKS[kind] ?? kind, msText(ms), shareText(ms, wallMs)]),
  );
  const columns = ["thread", "work", numeric("time"), numeric("of the time shown")];
  const text = `Each column of the picture is ${msText(timeline.binMs)}, filled as far as the thread was busy. eval --trace has every part.`;
  const section = pictured(
    "What every thread did",
    text,
    timelinePicture(timeline, width),
    table("Work of every thread", columns, rows),
  );
  section.querySelector("figure")!.before(html("ul", { class: "legend" }, ...legend));
  return section;
}

function nodeTable(): HTMLElement {
  const { nodes, factors } = data;
  const totalMs = nodes.reduce((sum, { ms }) => sum + ms, 0);
  const most = Math.max(...nodes.map(({ ms }) => ms), Number.MIN_VALUE);
  const kindOf = ({ kind }: NodeData) => WORKS[kind] ?? kind;
  const columns: SortableColumn<NodeData>[] = [
    ["values it gives", ({ text }) => html("code", {}, text), ({ text }) => text],
    ["part", ({ ms, kind }) => shareBar(ms / most, kind), ({ ms }) => -ms],
    [numeric("time"), ({ ms }) => msText(ms), ({ ms }) => ms],
    [numeric("share"), ({ ms }) => shareText(ms, totalMs), ({ ms }) => ms],
    [numeric("memory"), ({ bytes }) => bytesText(bytes), ({ bytes }) => bytes],
    ["kind", kindOf, ({ kind }) => kind],
    [numeric("tasks"), ({ taskCount }) => whole(taskCount), ({ taskCount }) => taskCount],
    [numeric("parts run"), ({ partCount }) => whole(partCount), ({ partCount }) => partCount],
    [numeric("factors"), (node) => whole(node.factors.length), (node) => node.factors.length],
    ["needed by", (node) => factorLinks(factors, node.factors, 3), () => null],
  ];
  const searchedOf = (node: NodeData) =>
    `${node.text} ${kindOf(node)} ${node.factors.map((factor) => factors[factor]!.name).join(" ")}`;
  const text = `All ${count(nodes.length, "node")}, the one that took most first`;
  return sortableTable(text, columns, nodes, searchedOf, "Search nodes, factors");
}
