import type { Command } from "commander";
import type { Explanation } from "../../reasons/explanation.ts";
import { addFlags, type Flags } from "../opening/option_flags.ts";
import { formulasOfFile, withProgram } from "../opening/with_program.ts";
import { commandLineWrong } from "../terminal/command_line.ts";
import { print, terminalWidth } from "../terminal/terminal.ts";
import { seriesText, whyText } from "./why_text.ts";

interface WhyFlags extends Flags {
  readonly data: string;
  readonly factor: string;
  readonly symbol: string;
  readonly at?: string;
  readonly from?: string;
  readonly to?: string;
  readonly json?: true;
}

export function addWhy(program: Command): void {
  const command = program
    .command("why")
    .description("explain a cell of a factor: the values below it, and for a null its first cause")
    .argument("<file>", "formula file")
    .requiredOption("--factor <name>", "factor of the file")
    .requiredOption("--symbol <name>", "symbol of the data")
    .option("--at <time>", "time of the data, e.g. 2018-02-07")
    .requiredOption("--data <path>", "bars, as for eval");
  addFlags(command, "factorloom why")
    .option("--json", "print the explanation as JSON, of --from and --to a list of them")
    .action(explainCells);
}

async function explainCells(file: string, flags: WhyFlags): Promise<void> {
  const { at, from, to } = flags;
  if ((at === undefined) === (from === undefined && to === undefined))
    throw commandLineWrong("a cell has one time, a series a range of them", "give --at, or --from and --to");
  const found = await explained(file, flags);
  if (flags.json) print(JSON.stringify(at === undefined ? found : found[0]));
  else
    print(at === undefined ? seriesText(found, flags, terminalWidth()) : whyText(found[0]!, terminalWidth()));
}

async function explained(file: string, { factor, symbol, at, ...flags }: WhyFlags): Promise<Explanation[]> {
  return await withProgram("factorloom why", await formulasOfFile(file), flags, async (opened) => {
    const { program, source } = opened;
    const asked = { ...opened.callOf(program), factor, symbol };
    const { from: _, to: __, ...cell } = asked;
    return await opened.inEngine("explain", async (engine) =>
      at === undefined
        ? await engine.whyRows(program, source, asked)
        : [await engine.why(program, source, { ...cell, time: at })],
    );
  });
}
