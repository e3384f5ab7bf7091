import { NULL_CAUSES } from "../../operator/null_causes.ts";
import type {
  ExplainedExpression,
  ExplainedWindow,
  Explanation,
  ReasonStep,
} from "../../reasons/explanation.ts";
import { numberText } from "../terminal/number_text.ts";
import { fittingTable, oneLine } from "../terminal/text_table.ts";

const FORMULA_CHARACTERS_MAX = 70;
const TREE_LINES_MAX = 60;
/** Values shown of a window; longer ones are cut in the middle. */
const WINDOW_VALUES_MAX = 8;
const TREE_VALUES_MAX = 4;

/** An explanation for a terminal of a width: a sentence, the chain to the first cause, the tree of values. */
export function whyText(explanation: Explanation, width: number): string {
  const { factor, symbol, time, value, chain, expression } = explanation;
  const lines = treeLines(expression, 0);
  const rows = lines.slice(0, TREE_LINES_MAX);
  const rest = lines.length - rows.length;
  return [
    ...(value === null ? reasonLines(explanation) : [`${factor} is ${value} on ${time} for ${symbol}`]),
    ...(chain.length > 0 ? ["", ...chainLines(chain, width)] : []),
    "",
    `values on ${time}, each below what reads it:`,
    treeTable(rows, width),
    ...(rest > 0 ? [`... and ${rest} more expressions (--json has them)`] : []),
  ].join("\n");
}

/** A line for each time of a range. */
export function seriesText(
  explanations: readonly Explanation[],
  { factor, symbol }: Pick<Explanation, "factor" | "symbol">,
  width: number,
): string {
  if (explanations.length === 0) return `${symbol} has no row in this range`;
  const rows = explanations.map(({ time, value, chain }) => {
    const first = chain.at(-1);
    if (!first) return [time, String(value), "", "", "", ""] as const;
    const { cause, formula, line, column } = first;
    const text = oneLine(formula, FORMULA_CHARACTERS_MAX);
    return [time, "null", NULL_CAUSES[cause].title, text, first.time, `${line}:${column}`] as const;
  });
  return [
    `${factor} for ${symbol}`,
    "",
    fittingTable(["time", "value", "first cause", "in", "on", "line:column"], rows, {
      width,
      cut: 3,
      leastWanted: [4, 5],
    }),
  ].join("\n");
}

/** `alpha096 is null on ... because ... is null on ...: its first input is constant (...)`, and what would remove it. */
function reasonLines({ factor, symbol, time, chain }: Explanation): string[] {
  const first = chain.at(-1) as ReasonStep;
  const { meaning, remedy } = NULL_CAUSES[first.cause];
  const what = `${oneLine(first.formula, FORMULA_CHARACTERS_MAX)} is ${valueText(first.value)} on ${first.time}`;
  const because = chain.length > 1 || first.cause !== "condition_not_wanted" ? ` because ${what}` : "";
  return [
    `${factor} is null on ${time} for ${symbol}${because}:`,
    `  ${meaning}${windowText(first)}`,
    `  ${remedy}`,
  ];
}

function windowText({ inputs, window, cause }: ReasonStep): string {
  if (inputs.length === 0) return "";
  const shown = inputs.map(({ formula }, i) => {
    const isConstant = cause === "constant_window" && new Set(window.values[i]).size === 1;
    const text = valuesText(window, i, WINDOW_VALUES_MAX, valueText);
    return `\n    ${oneLine(formula, FORMULA_CHARACTERS_MAX)} = ${text}${isConstant ? ": constant" : ""}`;
  });
  return shown.join("");
}

/** The values of an input in a window, cut in the middle where they are more than `valuesMax`. */
function valuesText(
  { values }: ExplainedWindow,
  input: number,
  valuesMax: number,
  textOf: (value: number | null) => string,
): string {
  const all = (values[input] ?? []).map(textOf);
  if (all.length <= 1) return all.join("");
  const half = valuesMax / 2;
  const cut =
    all.length <= valuesMax
      ? all
      : [...all.slice(0, half), `... ${all.length - 2 * half} more ...`, ...all.slice(-half)];
  return `(${cut.join(", ")})`;
}

function chainLines(chain: readonly ReasonStep[], width: number): string[] {
  const rows = chain.map(({ time, formula, value, cause, line, column }) => {
    return [
      time,
      oneLine(formula, FORMULA_CHARACTERS_MAX),
      valueText(value),
      NULL_CAUSES[cause].title,
      `${line}:${column}`,
    ] as const;
  });
  return [
    "from the factor to the first cause:",
    fittingTable(["time", "expression", "value", "why", "line:column"], rows, {
      width,
      cut: 1,
      leastWanted: [4, 2],
    }),
  ];
}

type TreeLine = readonly [expression: string, value: string, windowRead: string, place: string];

function treeTable(lines: readonly TreeLine[], width: number): string {
  const isWindowed = lines.some(([, , windowRead]) => windowRead !== "");
  const rows = lines.map(([text, value, windowRead, place]) => [
    text,
    value,
    ...(isWindowed ? [windowRead] : []),
    place,
  ]);
  const header = ["expression", "value", ...(isWindowed ? ["in the window above"] : []), "line:column"];
  return fittingTable(header, rows, { width, cut: 0, leastWanted: [2, 3] });
}

/** @param windowRead what the operator above reads of the expression */
function treeLines(
  { formula, line, column, value, inputs, isRepeated, window }: ExplainedExpression,
  level: number,
  windowRead = "",
): TreeLine[] {
  const text = `${"  ".repeat(level)}${oneLine(formula, FORMULA_CHARACTERS_MAX)}${isRepeated ? " (as above)" : ""}`;
  const own: TreeLine = [text, valueText(value), windowRead, `${line}:${column}`];
  const read = (input: number) =>
    window && window.times.length > 1
      ? valuesText(window, input, TREE_VALUES_MAX, (value) => numberText(value))
      : "";
  return [own, ...inputs.flatMap((input, i) => treeLines(input, level + 1, read(i)))];
}

const valueText = (value: number | null): string => (value === null ? "null" : String(value));
