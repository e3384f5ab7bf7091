import { builtInRegistry } from "../operators/index.ts";
import { type Axis, type Law, type Operator, signatureOf, windowRowsOf } from "../src/operator/definition.ts";

const AXES: Readonly<Record<Axis, string>> = {
  elementwise: "Elementwise: the value of a cell from the values of that cell",
  rolling: "Rolling: along the rows of one lane, over a window",
  recursive: "Recursive: along the rows of one lane, from the start of history",
  cross_section: "Cross-section: across the lanes of one row",
  group: "Group: across the lanes of one row, within groups",
  rewrite: "Rewrites: formulas of other operators",
};

/** The operator reference, made from the registry. */
export function operatorsPage(): string {
  const sections = Object.entries(AXES).map(([axis, title]) => {
    const operators = builtInRegistry.operators.filter((operator) => operator.axis === axis);
    return `## ${title}\n\n${operators.map(operatorSection).join("\n\n")}`;
  });
  return `# Operators

Made from the registry by \`npm run docs\`; a test keeps it current. \`factorloom ops NAME\` prints the same.

Unless said otherwise a null argument gives null, and statistics are the exact real-number result rounded once to the
nearest double. Laws hold to the last bit; formulas are simplified by them. Costs are those of the scalar reference, per cell. Rows of a window end at the current row.

${contents()}

${sections.join("\n\n")}
`;
}

function contents(): string {
  return Object.keys(AXES)
    .map((axis) => {
      const operators = builtInRegistry.operators.filter((operator) => operator.axis === axis);
      return `- ${axis.replace("_", " ")}: ${operators.map(({ name }) => `[${name}](#${name})`).join(", ")}`;
    })
    .join("\n");
}

function operatorSection(operator: Operator): string {
  const { name, summary, nulls, source, examples } = operator;
  const aliases = Object.entries(operator.aliases ?? {}).map(
    ([dialect, names]) => `${names.map(code).join(", ")} in ${dialect}`,
  );
  const facts = [
    `- nulls: ${nulls}`,
    ...warmUp(operator),
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
  const cost = `${Math.round(operator.costNs(20))} ns${operator.costNs(20) === operator.costNs(40) ? "" : " at 20 rows"}`;
  return [...(few === 1 ? [] : [`- warm-up: ${rowsText} before the current one`]), `- cost: about ${cost}`];
}

function code(text: string): string {
  return `\`${text}\``;
}

function vector(values: readonly (number | string | null)[]): string {
  return `[${values.map((value) => String(value)).join(", ")}]`;
}
