import type { Command } from "commander";
import { builtInRegistry } from "../../../operators/index.ts";
import { functionRemedy } from "../../ast/function_remedy.ts";
import { UsageError } from "../../errors.ts";
import { nullCausesText, type Operator, runsByReference, signatureOf } from "../../operator/definition.ts";
import { declaredCauses } from "../../operator/null_causes.ts";
import { print } from "../terminal/terminal.ts";
import { formatTable } from "../terminal/text_table.ts";

export function addOps(program: Command): void {
  program
    .command("ops")
    .description("operator reference: all operators, or one in full")
    .argument("[name]", "an operator's name or alias")
    .option("--json", "print as JSON")
    .action(ops);
}

function ops(name: string | undefined, { json }: { readonly json?: true }): void {
  const operators = name === undefined ? builtInRegistry.operators : [findOperator(name)];
  if (json) print(JSON.stringify(operators.map(describe)));
  else print(name === undefined ? listText(operators) : operatorText(operators[0] as Operator));
}

function findOperator(name: string): Operator {
  for (const dialect of ["native", "alpha101", "qlib", "gtja191"] as const) {
    const operator = builtInRegistry.find(name, dialect);
    if (operator) return operator;
  }
  const bySymbol = builtInRegistry.operators.find(({ symbol }) => symbol === name);
  if (bySymbol) return bySymbol;
  throw new UsageError("E506", `no operator ${name}`, functionRemedy(name, "native", builtInRegistry));
}

function describe(operator: Operator) {
  const { name, axis, symbol, aliases, parameters, result, summary, nulls, source, laws, examples } =
    operator;
  return {
    name,
    signature: signatureOf(operator),
    axis,
    symbol,
    aliases,
    parameters,
    result,
    summary,
    nulls,
    nullCauses: operator.axis === "rewrite" ? undefined : declaredCauses(operator.nullWhere),
    source,
    laws,
    examples,
  };
}

function listText(operators: readonly Operator[]): string {
  const axes = [...new Set(operators.map(({ axis }) => axis))];
  const sections = axes.map((axis) => {
    const rows = operators
      .filter((operator) => operator.axis === axis)
      .map((operator) => [operator.name, signatureOf(operator), operator.summary]);
    return formatTable([axis.replace("_", " "), "", ""], rows);
  });
  return `${sections.join("\n\n")}\n\n\`factorloom ops NAME\` describes one in full.`;
}

function operatorText(operator: Operator): string {
  const aliases = Object.entries(operator.aliases ?? {}).map(
    ([dialect, names]) => `${names.join(", ")} (${dialect})`,
  );
  const facts = [
    ["axis", operator.axis.replace("_", " ")],
    ["result", operator.result],
    ["also called", aliases.join("; ")],
    ["nulls", operator.nulls],
    ["causes of null", nullCausesText(operator)],
    ...(operator.laws ?? []).map((law, i) => [i === 0 ? "laws" : "", law]),
    ["speed", speedText(operator)],
    ["source", operator.source],
  ].filter(([, fact]) => fact !== "");
  const examples = operator.examples.map(({ formula, inputs, output }) => {
    const given = Object.entries(inputs).map(([name, values]) => `  ${name} = ${vector(values)}`);
    return [`  ${formula}`, ...given, `  -> ${vector(output)}`].join("\n");
  });
  return [
    signatureOf(operator),
    operator.summary,
    "",
    formatTable(["", ""], facts as string[][]).trimStart(),
    "",
    "examples",
    examples.join("\n\n"),
  ].join("\n");
}

/** Operators with code need no word: most have it. */
function speedText(operator: Operator): string {
  if (operator.axis === "rewrite" || !runsByReference(operator)) return "";
  return `no code; about ${Math.round(operator.costNs(20))} ns a cell by its reference`;
}

function vector(values: readonly (number | string | null)[]): string {
  return `[${values.map((value) => (value === null ? "null" : String(value))).join(", ")}]`;
}
