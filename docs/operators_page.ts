import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { builtInRegistry } from "../operators/index.ts";
import {
  type Law,
  nullCausesText,
  type Operator,
  runsByReference,
  signatureOf,
  windowRowsOf,
} from "../src/operator/definition.ts";
import type { CompiledCosts } from "./measure_operator_costs.ts";

/** What the folders of `operators/` hold. */
const ROOMS: Readonly<Record<string, string>> = {
  elementwise: "the value of a cell from the values of that cell",
  rolling: "along the rows of one instrument, over a window",
  recursive: "along the rows of one instrument, from the start of history",
  cross_section: "across the instruments of one row",
  group: "across the instruments of one row, within groups",
  technical: "technical indicators, each a formula of other operators",
};

/** Operators of one topic: a folder below a room, or the room itself. */
interface Topic {
  readonly room: string;
  readonly title: string;
  readonly operators: readonly Operator[];
}

const costs = JSON.parse(
  readFileSync(new URL("operator_costs.json", import.meta.url), "utf8"),
) as CompiledCosts;

/** The operator reference, made from the registry. */
export function operatorsPage(): string {
  const topics = Object.keys(ROOMS).flatMap(topicsOf);
  const sections = topics.map(
    ({ title, operators }) => `## ${title}\n\n${operators.map(operatorSection).join("\n\n")}`,
  );
  return `# Operators

Made from the registry by \`npm run docs\`; a test keeps it current. \`factorloom ops NAME\` prints an entry without its cost.

Unless an entry says otherwise, a null argument gives null, and a statistic is the exact real-number result rounded once
to the nearest double. A window ends at the current row. Laws hold to the last bit; formulas are simplified by them.
[null_causes.md](null_causes.md) says what a cause of null means; nulls of arguments are none of the operator's own.

**Costs** are ns per cell of the compiled code on one thread, measured by \`${costs.command}\` on ${costs.measuredOn}: ${costs.machine},
Node ${costs.node.slice(1)}, ${costs.lanes.toLocaleString("en")} instruments, of ${costs.runs} runs the least, beside other programs. \`factorloom bench calibrate\`
measures the same on your machine. 0.02 stands for less than the clock can tell. An operator without code runs its scalar
reference in JavaScript; its cost is an estimate for a window of 20 rows.

${contents(topics)}

${sections.join("\n\n")}
`;
}

function topicsOf(room: string): Topic[] {
  const folder = fileURLToPath(new URL(`../operators/${room}/`, import.meta.url));
  const byTopic = new Map<string, string[]>();
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    if (!path.endsWith(".ts")) continue;
    const [name, topic = ""] = path.slice(0, -3).split("/").reverse();
    byTopic.set(topic, [...(byTopic.get(topic) ?? []), name!]);
  }
  return [...byTopic].map(([topic, names]) => {
    const words = room.replace("_", "-");
    const title = `${words[0]!.toUpperCase()}${words.slice(1)}${topic && `: ${topic.replaceAll("_", " ")}`}`;
    const operators = builtInRegistry.operators.filter(({ name }) => names.includes(name));
    return { room, title, operators };
  });
}

function contents(topics: readonly Topic[]): string {
  const lines = topics.map(({ room, title, operators }, index) => {
    const links = operators.map(({ name }) => `[${name}](#${name})`).join(", ");
    const isFirst = topics[index - 1]?.room !== room;
    return `| ${isFirst ? ROOMS[room] : ""} | ${title} | ${links} |`;
  });
  return ["| what is read | topic | operators |", "| --- | --- | --- |", ...lines].join("\n");
}

function operatorSection(operator: Operator): string {
  const { name, summary, nulls, source, examples } = operator;
  const aliases = Object.entries(operator.aliases ?? {}).map(
    ([dialect, names]) => `${names.map(code).join(", ")} in ${dialect}`,
  );
  const facts = [
    `- nulls: ${nulls}`,
    `- causes of null: ${nullCausesText(operator)}`,
    ...warmUp(operator),
    `- cost: ${cost(operator)}`,
    ...(operator.axis === "rewrite" ? [`- formula: ${code(operator.formula)}`] : []),
    ...(aliases.length > 0 ? [`- also called: ${aliases.join("; ")}`] : []),
    ...(operator.laws ? [`- laws: ${operator.laws.map(lawText).join("; ")}`] : []),
    `- source: ${source}`,
  ];
  const shown = examples.map(({ formula, inputs, output }) => {
    const given = Object.entries(inputs).map(([input, values]) => `${input} = ${vector(values)}`);
    return [...given, `${formula}`, `= ${vector(output)}`].join("\n");
  });
  return `### ${name}\n\n${code(signatureOf(operator))}\n\n${summary}\n\n${facts.join("\n")}\n\n\`\`\`\n${shown.join("\n\n")}\n\`\`\``;
}

function lawText(law: Law): string {
  return law === "commutative" ? law : code(law);
}

function warmUp(operator: Operator): string[] {
  if (operator.axis === "rewrite") return [];
  const windows = operator.parameters.filter(({ kind }) => kind === "window" || kind === "delay");
  const sample = (rows: number) =>
    Object.fromEntries(operator.parameters.map(({ name, kind }) => [name, kind === "constant" ? 1 : rows]));
  const [few, many] = [windowRowsOf(operator, sample(10)), windowRowsOf(operator, sample(20))];
  const rowsText =
    few === Number.POSITIVE_INFINITY
      ? "all of history"
      : few === many
        ? `${few - 1} rows`
        : `${windows[0]?.name}${few - 11 === 0 ? "" : few - 11 > 0 ? ` + ${few - 11}` : ` - ${11 - few}`} rows`;
  return few === 1 ? [] : [`- warm-up: ${rowsText} before the current one`];
}

function cost(operator: Operator): string {
  if (operator.axis === "rewrite") return "that of its formula";
  const points = costs.operators[operator.name];
  if (points) {
    const figures = points.map(({ nsPerCell }) => Number(nsPerCell.toPrecision(2))).join(", ");
    const rows = points.map(({ windowRows }) => windowRows).join(", ");
    return `${figures} ns${points.length === 1 ? "" : ` over ${rows} rows`}`;
  }
  return !runsByReference(operator)
    ? "not measured"
    : `no code; about ${Math.round(operator.costNs(20))} ns by its reference`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function vector(values: readonly (number | string | null)[]): string {
  return `[${values.map((value) => String(value)).join(", ")}]`;
}
