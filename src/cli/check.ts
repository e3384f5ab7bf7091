import type { Command } from "commander";
import { type CompileOptions, compile, compileStrictly } from "../compile.ts";
import { EXIT_CODES, FormulaError, UsageError } from "../errors.ts";
import { counted } from "../text/counted.ts";
import { renderDiagnostic } from "../text/source.ts";
import { addPanelOptions } from "./eval.ts";
import { type CallOptions, compileOptions, pick, sourceOptions } from "./eval_run.ts";
import { parseNames, readFormulaFile } from "./formula_file.ts";
import { print } from "./terminal.ts";

interface CheckOptions extends Partial<CallOptions> {
  readonly fields?: string[];
  readonly strict?: true;
  readonly json?: true;
}

export function addCheck(program: Command): void {
  const command = program
    .command("check")
    .description("report every mistake of a formula file; exit code 1 if there is one")
    .argument("<file>", "formula file")
    .option("--data <path>", "bars that have the fields, as for eval")
    .option(
      "--groups <path|names>",
      "table with symbol and group columns; without --data the names of group columns, e.g. sector",
    );
  addPanelOptions(command)
    .option("--fields <names>", "without --data: numeric columns of the panel, e.g. open,close", parseNames)
    .option("--strict", "also report what is rarely meant: equal or constant factors, mixed units, 0/0 ...")
    .option("--json", "print the result as JSON")
    .action(check);
}

async function check(file: string, options: CheckOptions): Promise<void> {
  const { json, strict } = options;
  const text = await readFormulaFile(file);
  const columns = await panelColumns(file, options);
  try {
    const { program, suspicions } = strict
      ? compileStrictly(text, columns)
      : { program: compile(text, columns), suspicions: [] };
    const { factors, dialect } = program;
    const result = { file, dialect, factorCount: factors.length, diagnostics: [], suspicions };
    const found = strict ? `, ${counted(suspicions.length, "suspicion")}` : "";
    const verdict = `${file}: ${counted(factors.length, "factor")}, no mistake${found}`;
    print(json ? JSON.stringify(result) : [...suspicions.map(renderDiagnostic), verdict].join("\n"));
    if (suspicions.length > 0) process.exitCode = EXIT_CODES.input;
  } catch (error) {
    if (!(error instanceof FormulaError) || !json) throw error;
    print(JSON.stringify({ file, diagnostics: error.diagnostics }));
    process.exitCode = error.exitCode;
  }
}

/** The columns that formulas may use: those of the data, as `eval` finds them, or those that are named. */
async function panelColumns(file: string, options: CheckOptions): Promise<CompileOptions> {
  const { data, groups, fields } = options;
  if (data === undefined) {
    refuseWithoutData(options);
    const names = groups === undefined ? {} : { groups: parseNames(groups) };
    return { file, ...names, ...pick(options, ["fields", "dialect", "universe"]) };
  }
  if (fields !== undefined)
    throw new UsageError("E500", "--data has the fields, and --fields names them", "give one of the two");
  const { openPanelSource } = await import("../data/open_panel_source.ts");
  const source = await openPanelSource(data, sourceOptions({ ...options, data }));
  try {
    return compileOptions(file, source, { ...options, data });
  } finally {
    await source.close();
  }
}

function refuseWithoutData(options: CheckOptions): void {
  const flags = {
    series: "series",
    field: "field",
    timeColumn: "time-column",
    symbolColumn: "symbol-column",
  };
  for (const [name, flag] of Object.entries(flags)) {
    if (options[name as keyof typeof flags] === undefined) continue;
    throw new UsageError("E500", `--${flag} says how --data is read, which is not given`, "add --data PATH");
  }
}
