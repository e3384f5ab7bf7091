import { type Command, Option } from "commander";
import { compile, finalDag, type Program, writtenDag } from "../../compile.ts";
import type { Dag, Task } from "../../dag/dag.ts";
import { printChanges } from "../../dag/difference.ts";
import {
  conditionText,
  countCalls,
  countUnsharedCalls,
  printDot,
  printOutputs,
  printTasks,
} from "../../dag/print.ts";
import { checkOutputSpares } from "../../files/output_overlap.ts";
import { replaceFile } from "../../files/pending_file.ts";
import { runsByReference } from "../../operator/definition.ts";
import { criticalPath, nodeText } from "../../plan/critical_path.ts";
import { formPlan } from "../../plan/form.ts";
import { counted } from "../../text/counted.ts";
import { addColumnFlags, type ColumnFlags, compileOptionsOf } from "../opening/columns.ts";
import { readFormulaFile } from "../terminal/formula_file.ts";
import { countTo } from "../terminal/option_values.ts";
import { print } from "../terminal/terminal.ts";
import { formatTable } from "../terminal/text_table.ts";

/** More symbols than any market has. */
const SYMBOLS_MAX = 10_000_000;

interface ExplainOptions extends ColumnFlags {
  readonly out?: string;
  readonly format: "text" | "dot" | "html" | "json";
  readonly passes?: true;
  readonly symbols?: number;
}

export function addExplain(program: Command): void {
  const command = program
    .command("explain")
    .description("show what a formula file is compiled to")
    .argument("<file>", "formula file");
  addColumnFlags(command, "factorloom explain")
    .addOption(
      new Option("--symbols <n>", "show the memory that a history and a session of n symbols take")
        .argParser(countTo(SYMBOLS_MAX))
        .conflicts(["format", "passes"]),
    )
    .addOption(new Option("--passes", "show what each pass does to the graph").conflicts("format"))
    .addOption(
      new Option("--format <format>", "text, json, dot for Graphviz, or html: a page to look at")
        .choices(["text", "json", "dot", "html"])
        .default("text"),
    )
    .option("--out <path>", "write it to this file instead of stdout")
    .action(explain);
}

async function explain(file: string, options: ExplainOptions): Promise<void> {
  const { out, data, groups, series } = options as ExplainOptions & Record<string, string | undefined>;
  if (out !== undefined) await checkOutputSpares("--out", out, [file, data, groups, series]);
  const text = await readFormulaFile(file);
  const program = compile(text, await compileOptionsOf("factorloom explain", file, options));
  const explained = await explanationOf(program, options);
  if (out === undefined) print(explained);
  else await replaceFile(out, `${explained}\n`);
}

async function explanationOf(program: Program, { format, passes, symbols }: ExplainOptions): Promise<string> {
  if (format === "html") {
    // Laying graphs out needs a package that nothing else loads, kernels a hundred modules.
    const { explainPage } = await import("../../pages/explain/explain_page.ts");
    return explainPage(program);
  }
  if (symbols !== undefined) {
    const { memoryText } = await import("./explain_memory.ts");
    return await memoryText(program, symbols);
  }
  if (format === "json") return JSON.stringify(program.graph(), null, 2);
  if (format === "dot") return printDot(finalDag(program));
  return passes ? passesText(program) : explainText(program);
}

/** The graph after the first stage, then what each pass removed and added. */
function passesText({ stages }: Program): string {
  const changes = printChanges(stages.map(({ dag }) => dag));
  return stages
    .map(({ name, dag }, i) => {
      const lines = changes[i]!.length > 0 ? changes[i]! : ["unchanged"];
      return [`== ${name}: ${callsText(dag)}`, ...lines].join("\n");
    })
    .join("\n\n");
}

function callsText(dag: Dag): string {
  return counted(countCalls(dag), "task");
}

/** The stages with their counts, the plan, the factors, and the graph that is evaluated. */
function explainText(program: Program): string {
  const dag = finalDag(program);
  const plan = formPlan(dag, {
    laneCount: 1,
    blockRows: 1,
    executorCount: 1,
    disabledPasses: program.disabledPasses,
  });
  const path = criticalPath(plan.nodes);
  const deepest = program.factors.reduce((most, factor) =>
    factor.lookbackRows > most.lookbackRows ? factor : most,
  );
  const stages = [
    ["formulas written out (before sharing)", countUnsharedCalls(writtenDag(program))],
    ...program.stages.map((stage) => [stage.name, countCalls(stage.dag)] as const),
  ] as const;
  const hasPriorities = dag.outputs.some(({ priority }) => priority !== 0);
  const factors = dag.outputs.map(({ name, task, condition, priority }, i) => {
    return [
      name,
      `%${task}`,
      lookbackText(program.factors[i]?.lookbackRows ?? 0),
      ...(hasPriorities ? [priority] : []),
      condition === null ? "" : conditionText(dag, condition),
    ] as const;
  });
  const costNs = path.reduce((sum, { costNs: cost }) => sum + cost, 0);
  return [
    `${program.file}: ${counted(program.factors.length, "factor")}, dialect ${program.dialect}`,
    "",
    formatTable(["stage", "tasks"], stages),
    "",
    `nodes: ${plan.nodes.length.toLocaleString("en")}, columns: ${plan.columns.length.toLocaleString("en")}`,
    `critical path: ${counted(path.length, "node")}, about ${Math.round(costNs)} ns a cell: ${path.map((node) => nodeText(plan, node)).join(" > ")}`,
    `lookback: ${earlierRowsText(deepest.lookbackRows)} (${deepest.name})`,
    "",
    formatTable(["factor", "task", "lookback", ...(hasPriorities ? ["priority"] : []), "when"], factors),
    "",
    "graph after the last pass:",
    ...printTasks(dag).map((line, id) => line + referenceText(dag.tasks[id]!)),
    ...printOutputs(dag),
  ].join("\n");
}

function referenceText(task: Task): string {
  return task.kind === "call" && runsByReference(task.operator) ? "  (no code: by reference)" : "";
}

function earlierRowsText(rows: number): string {
  if (rows === Number.POSITIVE_INFINITY) return "unbounded";
  return `${counted(rows, "row")} before the current one`;
}

function lookbackText(rows: number): number | string {
  return rows === Number.POSITIVE_INFINITY ? "unbounded" : rows;
}
