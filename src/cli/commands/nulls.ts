import type { Command } from "commander";
import { addFlags, type Flags } from "../opening/option_flags.ts";
import { countNulls, formulasOfFile, withProgram } from "../opening/with_program.ts";
import { print, terminalWidth } from "../terminal/terminal.ts";
import { nullsText } from "./nulls_text.ts";

interface NullsFlags extends Flags {
  readonly data: string;
  readonly all?: true;
  readonly json?: true;
}

export function addNulls(program: Command): void {
  const command = program
    .command("nulls")
    .description("count the nulls of factors by first cause and by the sub-expression that has it")
    .argument("<file>", "formula file")
    .requiredOption("--data <path>", "bars, as for eval");
  addFlags(command, "factorloom nulls")
    .option("--all", "print every factor, not only those with most nulls")
    .option("--json", "print the counts as JSON")
    .action(printNulls);
}

async function printNulls(file: string, flags: NullsFlags): Promise<void> {
  const report = await withProgram("factorloom nulls", await formulasOfFile(file), flags, countNulls);
  print(flags.json ? JSON.stringify(report) : nullsText(file, report, flags.all === true, terminalWidth()));
}
