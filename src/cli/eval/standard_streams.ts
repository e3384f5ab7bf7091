import { type Formulas, formulasOfFile } from "../opening/with_program.ts";
import { commandLineWrong } from "../terminal/command_line.ts";
import { STANDARD } from "../terminal/standard_input.ts";
import type { ResultFlags } from "./result_flags.ts";

/** @throws UsageError E500 for two sources of formulas or none, stdin twice, two uses of stdout, and what cannot go there. */
export function checkStreams(
  file: string | undefined,
  { expr, data, out, format, trace, report, json }: ResultFlags,
): void {
  if ((file === undefined) === (expr === undefined))
    throw commandLineWrong("eval takes one source of formulas", "give a file or --expr, and not both");
  if (file === STANDARD && data === STANDARD)
    throw commandLineWrong("stdin cannot be both formulas and bars", "give one of them as a file");
  if (format !== undefined && out !== STANDARD)
    throw commandLineWrong("--format is for --out -", "the extension of a file tells its format");
  for (const [option, path] of Object.entries({ trace, report }))
    if (path === STANDARD)
      throw commandLineWrong(`--${option} cannot go to stdout`, "give the name of a file");
  if (json && out === STANDARD)
    throw commandLineWrong("stdout cannot hold the result and --json", "write the result to a file");
}

/** The formulas of a file, of stdin or of the command line. */
export async function formulasOf(file: string | undefined, { expr }: ResultFlags): Promise<Formulas> {
  if (expr) return { name: "--expr", text: expressionText(expr) };
  return await formulasOfFile(file!);
}

/** `rank(close)` is the factor `expr`, of several `expr1`, `expr2` ...; `a = rank(close)` is itself. */
function expressionText(formulas: readonly string[]): string {
  const isNamed = (formula: string) => /^\s*(let\s|param\s|\w+\s*=(?!=))/.test(formula);
  return formulas
    .map((formula, i) => {
      if (isNamed(formula)) return formula;
      return `expr${formulas.length === 1 ? "" : i + 1} = ${formula}`;
    })
    .join("\n");
}
