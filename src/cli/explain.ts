import { type Command, Option } from "commander";
import { compile, finalDag, type Program } from "../compile.ts";
import { countCalls, countUnsharedCalls, printDag, printDot } from "../dag/print.ts";
import { criticalPath } from "../plan/critical_path.ts";
import { formPlan } from "../plan/form.ts";
import type { Plan, PlanNode, PlanTask } from "../plan/plan.ts";
import { parseNames, readFormulaFile } from "./formula_file.ts";
import { formatTable } from "./text_table.ts";

interface ExplainOptions {
  readonly dialect?: string;
  readonly fields?: string[];
  readonly groups?: string[];
  readonly format: "text" | "dot";
  readonly pass?: string[] | true;
}

export function addExplain(program: Command): void {
  program
    .command("explain")
    .description("show what a formula file is compiled to")
    .argument("<file>", "formula file")
    .option(
      "--dialect <name>",
      "dialect of the file: native, alpha101, qlib, gtja191 (default: what it states)",
    )
    .option("--fields <names>", "numeric columns of the panel, e.g. open,close", parseNames)
    .option("--groups <names>", "group columns of the panel, e.g. sector", parseNames)
    .option("--no-pass <name>", "leave a compiler pass out (may be repeated)", collect)
    .addOption(
      new Option("--format <format>", "text, or dot for Graphviz").choices(["text", "dot"]).default("text"),
    )
    .action(explain);
}

/** Gathers the values of an option that may be repeated. */
export function collect(value: string, earlier: string[] | true = []): string[] {
  return [...(earlier === true ? [] : earlier), value];
}

/** The values of `--no-pass`: without them a negated option is true. */
export function disabledPasses(values: string[] | true | undefined): string[] {
  return Array.isArray(values) ? values : [];
}

async function explain(file: string, { format, pass, ...options }: ExplainOptions): Promise<void> {
  const program = compile(await readFormulaFile(file), {
    ...options,
    file,
    disabledPasses: disabledPasses(pass),
  });
  const text = format === "dot" ? printDot(finalDag(program)) : explainText(program);
  process.stdout.write(`${text}\n`);
}

/** The stages with their counts, the plan, the factors, and the graph that is evaluated. */
export function explainText(program: Program): string {
  const dag = finalDag(program);
  const plan = formPlan(dag, { laneCount: 1, blockRows: 1, executorCount: 1 });
  const path = criticalPath(plan.nodes);
  const deepest = program.factors.reduce((most, factor) =>
    factor.lookbackRows > most.lookbackRows ? factor : most,
  );
  const stages = [
    ["formulas written out (before sharing)", countUnsharedCalls(dag)],
    ...program.stages.map((stage) => [stage.name, countCalls(stage.dag)] as const),
  ] as const;
  const factors = dag.outputs.map(({ name, task, condition }, i) => {
    return [
      name,
      `%${task}`,
      program.factors[i]?.lookbackRows ?? 0,
      condition === null ? "" : `#${condition}`,
    ] as const;
  });
  const costNs = path.reduce((sum, { costNs: cost }) => sum + cost, 0);
  return [
    `${program.file}: ${program.factors.length} factors, dialect ${program.dialect}`,
    "",
    formatTable(["stage", "tasks"], stages),
    "",
    `nodes: ${plan.nodes.length.toLocaleString("en")}, columns: ${plan.columns.length.toLocaleString("en")}`,
    `critical path: ${path.length} nodes, about ${Math.round(costNs)} ns a cell: ${path.map((node) => nodeText(plan, node)).join(" > ")}`,
    `lookback: ${deepest.lookbackRows} rows (${deepest.name})`,
    "",
    formatTable(["factor", "task", "lookback", "when"], factors),
    "",
    "graph after the last pass:",
    printDag(dag),
  ].join("\n");
}

/** What a node does: its operator, or how many tasks it fuses. */
function nodeText({ tasks }: Plan, node: PlanNode): string {
  if (node.kind === "input") return "input";
  const [only, ...others] = node.tasks;
  return others.length > 0 ? `${node.tasks.length} tasks` : (tasks[only as number] as PlanTask).operator;
}
