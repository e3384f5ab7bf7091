import type { Command } from "commander";
import { DEFAULT_GROUPS } from "../../ast/names.ts";
import { type CompileOptions, compile, compileStrictly, finalDag, type Program } from "../../compile.ts";
import { EXIT_CODES, FormulaError } from "../../errors.ts";
import { counted } from "../../text/counted.ts";
import { renderDiagnostic } from "../../text/source.ts";
import { addColumnFlags, type ColumnFlags, compileOptionsOf } from "../opening/columns.ts";
import { commandLineWrong } from "../terminal/command_line.ts";
import { failureReport } from "../terminal/failure.ts";
import { readFormulaFile } from "../terminal/formula_file.ts";
import { unknownCode } from "../terminal/help.ts";
import { collect } from "../terminal/option_values.ts";
import { print } from "../terminal/terminal.ts";

interface CheckOptions extends ColumnFlags {
  readonly strict?: true;
  readonly deny?: readonly string[];
  readonly allow?: readonly string[];
  readonly json?: true;
}

export function addCheck(program: Command): void {
  const command = program
    .command("check")
    .description("report every mistake of a formula file; exit code 1 if there is one")
    .argument("<file>", "formula file");
  addColumnFlags(command, "factorloom check")
    .option("--strict", "also report what is rarely meant: equal or constant factors, mixed units, 0/0 ...")
    .option("--deny <code>", "report this finding of --strict, also without it (may be repeated)", collect)
    .option("--allow <code>", "do not report this finding (may be repeated)", collect)
    .option("--json", "print the result as JSON")
    .action(check);
}

async function check(file: string, options: CheckOptions): Promise<void> {
  const { json } = options;
  const isReported = await reportedFindings(options);
  const text = await readFormulaFile(file);
  const columns = await compileOptionsOf("factorloom check", file, options);
  try {
    const { program, suspicions: all } = isReported
      ? compileStrictly(text, columns)
      : { program: compile(text, columns), suspicions: [] };
    await checkUniverse(program, columns);
    const suspicions = all.filter(({ code }) => isReported?.(code));
    const { factors, dialect } = program;
    const result = { file, dialect, factorCount: factors.length, diagnostics: [], suspicions };
    const found = isReported ? `, ${counted(suspicions.length, "finding")}` : "";
    const verdict = `${file}: ${counted(factors.length, "factor")}, no mistake${found}`;
    print(json ? JSON.stringify(result) : [...suspicions.map(renderDiagnostic), verdict].join("\n"));
    if (suspicions.length > 0) process.exitCode = EXIT_CODES.input;
  } catch (error) {
    if (!(error instanceof FormulaError) || !json) throw error;
    const { diagnostics, ...first } = failureReport(error).error;
    print(JSON.stringify({ file, diagnostics, error: first }));
    process.exitCode = EXIT_CODES.input;
  }
}

/** Selects the findings to report, each of which is then an error; null if no finding is reported. */
async function reportedFindings({
  strict,
  deny = [],
  allow = [],
}: CheckOptions): Promise<((code: string) => boolean) | null> {
  const denied = new Set(await Promise.all(deny.map(findingCode)));
  const allowed = new Set(await Promise.all(allow.map(findingCode)));
  for (const code of denied)
    if (allowed.has(code))
      throw commandLineWrong(`${code} is denied and allowed`, "give it to one of --deny and --allow");
  if (!strict && denied.size === 0) return null;
  return (code) => (strict || denied.has(code)) && !allowed.has(code);
}

async function findingCode(given: string): Promise<string> {
  const { errorSections } = await import("../terminal/errors_page.ts");
  const findings = (await errorSections()).map(({ code }) => code).filter((code) => code.startsWith("S"));
  const code = given.trim().toUpperCase();
  if (!findings.includes(code)) throw unknownCode(given, "finding", findings);
  return code;
}

/** A universe that the file does not define is a field, which `compile` leaves to each call to find in its panel. */
async function checkUniverse(program: Program, { fields, groups, universe }: CompileOptions): Promise<void> {
  if (fields === undefined || universe === undefined) return;
  const { columnsRead } = await import("../../evaluation/wanted_factors.ts");
  columnsRead(finalDag(program), { fieldNames: fields, groupNames: groups ?? DEFAULT_GROUPS });
}
