import type { Command } from "commander";
import { compile } from "../../compile.ts";
import type { Explanation } from "../../reasons/explanation.ts";
import { addCallOptions } from "../eval/eval.ts";
import { type CallOptions, compileOptions, pick, sourceOptions, typedParams } from "../eval/eval_run.ts";
import { readFormulaFile } from "../terminal/formula_file.ts";
import { interruptionSignal } from "../terminal/interruption.ts";
import { print } from "../terminal/terminal.ts";
import { whyText } from "./why_text.ts";

interface WhyFileOptions extends CallOptions {
  readonly factor: string;
  readonly symbol: string;
  readonly at: string;
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
    .requiredOption("--at <time>", "time of the data, e.g. 2018-02-07");
  addCallOptions(command)
    .option("--keep-inf", "take infinities for values, as eval --keep-inf does")
    .option("--json", "print the explanation as JSON")
    .action(explainCell);
}

async function explainCell(file: string, options: WhyFileOptions): Promise<void> {
  const text = await readFormulaFile(file);
  const explanation = await explained(file, text, options);
  print(options.json ? JSON.stringify(explanation) : whyText(explanation));
}

async function explained(file: string, text: string, options: WhyFileOptions): Promise<Explanation> {
  const [{ openPanelSource }, { Engine }] = await Promise.all([
    import("../../data/source/open_panel_source.ts"),
    import("../../engine.ts"),
  ]);
  const source = await openPanelSource(options.data, sourceOptions(options));
  try {
    const program = compile(text, compileOptions(file, source, options));
    await using engine = await Engine.start(pick(options, ["threads", "memoryLimit"]));
    return await engine.why(program, source, {
      ...pick(options, ["factor", "symbol", "paramsByTime"]),
      time: options.at,
      params: typedParams(program, options.param ?? {}),
      keepInfinite: options.keepInf === true,
      signal: interruptionSignal(),
    });
  } finally {
    await source.close();
  }
}
