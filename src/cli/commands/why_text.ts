import { NULL_CAUSES } from "../../operator/null_causes.ts";
import type {
  ExplainedExpression,
  ExplainedWindow,
  Explanation,
  ReasonStep,
} from "../../reasons/explanation.ts";
import { oneLine } from "../terminal/one_line.ts";
import { formatTable } from "../terminal/text_table.ts";

const FORMULA_CHARACTERS_MAX = 70;
const TREE_LINES_MAX = 60;
/** Values shown of a window; longer ones are cut in the middle. */
const WINDOW_VALUES_MAX = 8;

/** An explanation for a terminal: a sentence, the chain to the first cause, the tree of values. */
export function whyText(explanation: Explanation): string {
  const { factor, symbol, time, value, chain, expression } = explanation;
  const lines = treeLines(expression, 0);
  const rows = lines.slice(0, TREE_LINES_MAX);
  const rest = lines.length - rows.length;
  return [
    ...(value === null ? reasonLines(explanation) : [`${factor} is ${value} on ${time} for ${symbol}`]),
    ...(chain.length > 0 ? ["", ...chainLines(chain)] : []),
    "",
    `values on ${time}, each below what reads it:`,
    formatTable(["expression", "value", "line:column"], rows),
    ...(rest > 0 ? [`... and ${rest} more expressions (--json has them)`] : []),
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

function windowText({ inputs, window }: ReasonStep): string {
  if (inputs.length === 0) return "";
  const shown = inputs.map(
    ({ formula }, i) => `\n    ${oneLine(formula, FORMULA_CHARACTERS_MAX)} = ${valuesText(window, i)}`,
  );
  return shown.join("");
}

function valuesText({ values }: ExplainedWindow, input: number): string {
  const all = (values[input] ?? []).map(valueText);
  if (all.length <= 1) return all.join("");
  const half = WINDOW_VALUES_MAX / 2;
  const cut =
    all.length <= WINDOW_VALUES_MAX
      ? all
      : [...all.slice(0, half), `... ${all.length - 2 * half} more ...`, ...all.slice(-half)];
  return `(${cut.join(", ")})`;
}

function chainLines(chain: readonly ReasonStep[]): string[] {
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
    formatTable(["time", "expression", "value", "why", "line:column"], rows),
  ];
}

function treeLines(
  { formula, line, column, value, inputs, isRepeated }: ExplainedExpression,
  level: number,
): (readonly [string, string, string])[] {
  const text = `${"  ".repeat(level)}${oneLine(formula, FORMULA_CHARACTERS_MAX)}${isRepeated ? " (as above)" : ""}`;
  const own = [text, valueText(value), `${line}:${column}`] as const;
  return [own, ...inputs.flatMap((input) => treeLines(input, level + 1))];
}

const valueText = (value: number | null): string => (value === null ? "null" : String(value));
