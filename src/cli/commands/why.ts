import type { Command } from "commander";
import { compile } from "../../compile.ts";
import { UsageError } from "../../errors.ts";
import type { Explanation } from "../../reasons/explanation.ts";
import { type CallOptions, compileOptions, pick, sourceOptions, typedParams } from "../eval/call_options.ts";
import { addData, addRunOptions } from "../eval/eval.ts";
import { readFormulaFile } from "../terminal/formula_file.ts";
import { interruptionSignal } from "../terminal/interruption.ts";
import { print, terminalWidth } from "../terminal/terminal.ts";
import { seriesText, whyText } from "./why_text.ts";

interface WhyFileOptions extends CallOptions {
  readonly factor: string;
  readonly symbol: string;
  readonly at?: string;
  readonly keepInf?: true;
  readonly json?: true;
}

export function addWhy(program: Command): void {
  const command = program
    .command("why")
    .description("explain a cell of a factor: the values below it, and for a null its first cause")
    .argument("<file>", "formula file")
    .requiredOption("--factor <name>", "factor of the file")
    .requiredOption("--symbol <name>", "symbol of the data")
    .option("--at <time>", "time of the data, e.g. 2018-02-07");
  addRunOptions(addData(command))
    .option("--keep-inf", "take infinities for values, as eval --keep-inf does")
    .option("--json", "print the explanation as JSON, of --from and --to a list of them")
    .action(explainCells);
}

async function explainCells(file: string, options: WhyFileOptions): Promise<void> {
  const { at, from, to } = options;
  if ((at === undefined) === (from === undefined && to === undefined))
    throw new UsageError(
      "E567",
      "a cell has one time, a series a range of them",
      "give --at, or --from and --to",
    );
  const text = await readFormulaFile(file);
  const found = await explained(file, text, options);
  if (options.json) print(JSON.stringify(at === undefined ? found : found[0]));
  else
    print(
      at === undefined ? seriesText(found, options, terminalWidth()) : whyText(found[0]!, terminalWidth()),
    );
}

async function explained(file: string, text: string, options: WhyFileOptions): Promise<Explanation[]> {
  const [{ openPanelSource }, { Engine }] = await Promise.all([
    import("../../data/source/open_panel_source.ts"),
    import("../../engine.ts"),
  ]);
  const source = await openPanelSource(options.data, sourceOptions(options));
  try {
    const program = compile(text, compileOptions(file, source, options));
    await using engine = await Engine.start(pick(options, ["threads", "memoryLimit"]));
    const { at } = options;
    const asked = {
      ...pick(options, ["factor", "symbol", "paramsByTime"]),
      params: typedParams(program, options.param ?? {}),
      keepInfinite: options.keepInf === true,
      signal: interruptionSignal(),
    };
    if (at !== undefined) return [await engine.why(program, source, { ...asked, time: at })];
    return await engine.whyRows(program, source, { ...asked, ...pick(options, ["from", "to"]) });
  } finally {
    await source.close();
  }
}
