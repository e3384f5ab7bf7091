import type { Command } from "commander";
import { compile, finalDag, writtenDag } from "../compile.ts";
import { findSuspicions } from "../dag/strict.ts";
import { EXIT_CODES, FormulaError } from "../errors.ts";
import { counted } from "../text/counted.ts";
import { parseNames, readFormulaFile } from "./formula_file.ts";
import { print } from "./terminal.ts";

interface CheckOptions {
  readonly dialect?: string;
  readonly fields?: string[];
  readonly groups?: string[];
  readonly strict?: true;
  readonly json?: true;
}

export function addCheck(program: Command): void {
  program
    .command("check")
    .description("report every mistake of a formula file; exit code 1 if there is one")
    .argument("<file>", "formula file")
    .option(
      "--dialect <name>",
      "dialect of the file: native, alpha101, qlib, gtja191 (default: what it states)",
    )
    .option("--fields <names>", "numeric columns of the panel, e.g. open,close", parseNames)
    .option("--groups <names>", "group columns of the panel, e.g. sector", parseNames)
    .option("--strict", "also report what is rarely meant: equal or constant factors, mixed units, 0/0 ...")
    .option("--json", "print the result as JSON")
    .action(check);
}

async function check(file: string, { json, strict, ...options }: CheckOptions): Promise<void> {
  const text = await readFormulaFile(file);
  try {
    const program = compile(text, { ...options, file });
    const suspicions = strict ? findSuspicions(writtenDag(program), finalDag(program)) : [];
    const { factors, dialect } = program;
    const result = { file, dialect, factorCount: factors.length, diagnostics: [], suspicions };
    const lines = suspicions.map(
      ({ code, factor, message, remedy }) => `${code} ${file}: ${factor} ${message}: ${remedy}`,
    );
    const verdict = `${file}: ${counted(factors.length, "factor")}, no mistake${strict ? `, ${counted(suspicions.length, "suspicion")}` : ""}`;
    print(json ? JSON.stringify(result) : [...lines, verdict].join("\n"));
    if (suspicions.length > 0) process.exitCode = EXIT_CODES.input;
  } catch (error) {
    if (!(error instanceof FormulaError) || !json) throw error;
    print(JSON.stringify({ file, diagnostics: error.diagnostics }));
    process.exitCode = error.exitCode;
  }
}
