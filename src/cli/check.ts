import type { Command } from "commander";
import { compile } from "../compile.ts";
import { FormulaError } from "../errors.ts";
import { parseNames, readFormulaFile } from "./formula_file.ts";

interface CheckOptions {
  readonly dialect?: string;
  readonly fields?: string[];
  readonly groups?: string[];
  readonly json?: true;
}

export function addCheck(program: Command): void {
  program
    .command("check")
    .description("report every mistake of a formula file; exit code 1 if there is one")
    .argument("<file>", "formula file")
    .option("--dialect <name>", "dialect of the file: native, alpha101 (default: what the file states)")
    .option("--fields <names>", "numeric columns of the panel, e.g. open,close", parseNames)
    .option("--groups <names>", "group columns of the panel, e.g. sector", parseNames)
    .option("--json", "print the result as JSON")
    .action(check);
}

async function check(file: string, { json, ...options }: CheckOptions): Promise<void> {
  const text = await readFormulaFile(file);
  try {
    const { factors, dialect } = compile(text, { ...options, file });
    const result = { file, dialect, factorCount: factors.length, diagnostics: [] };
    process.stdout.write(
      json ? `${JSON.stringify(result)}\n` : `${file}: ${factors.length} factors, no mistake\n`,
    );
  } catch (error) {
    if (!(error instanceof FormulaError) || !json) throw error;
    process.stdout.write(`${JSON.stringify({ file, diagnostics: error.diagnostics })}\n`);
    process.exitCode = error.exitCode;
  }
}
