import type { Command } from "commander";
import { compile } from "../../compile.ts";
import type { NullReport } from "../../reasons/null_report.ts";
import { type CallOptions, compileOptions, sourceOptions } from "../eval/call_options.ts";
import { countNulls } from "../eval/count_nulls.ts";
import { addCallOptions } from "../eval/eval.ts";
import { readFormulaFile } from "../terminal/formula_file.ts";
import { print, terminalWidth } from "../terminal/terminal.ts";
import { Steps } from "../trace/steps.ts";
import { nullsText } from "./nulls_text.ts";

interface NullsFileOptions extends CallOptions {
  readonly keepInf?: true;
  readonly all?: true;
  readonly json?: true;
}

export function addNulls(program: Command): void {
  const command = program
    .command("nulls")
    .description("count the nulls of factors by first cause and by the sub-expression that has it")
    .argument("<file>", "formula file");
  addCallOptions(command)
    .option("--keep-inf", "take infinities for values, as eval --keep-inf does")
    .option("--all", "print every factor, not only those with most nulls")
    .option("--json", "print the counts as JSON")
    .action(printNulls);
}

async function printNulls(file: string, options: NullsFileOptions): Promise<void> {
  const text = await readFormulaFile(file);
  const report = await reportOf(file, text, options);
  print(
    options.json ? JSON.stringify(report) : nullsText(file, report, options.all === true, terminalWidth()),
  );
}

async function reportOf(file: string, text: string, options: NullsFileOptions): Promise<NullReport> {
  const [{ default: ora }, { openPanelSource }, { Engine }] = await Promise.all([
    import("ora"),
    import("../../data/source/open_panel_source.ts"),
    import("../../engine.ts"),
  ]);
  const steps = new Steps(ora);
  const source = await steps.run("read", () => openPanelSource(options.data, sourceOptions(options)));
  try {
    const program = await steps.run("compile", async () =>
      compile(text, compileOptions(file, source, options)),
    );
    return await countNulls(Engine.start, program, source, options, steps);
  } finally {
    await source.close();
  }
}
