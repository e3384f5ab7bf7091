import type { Command } from "commander";
import type { ProgramDifference } from "../../difference/program_difference.ts";
import type { ResultDifference } from "../../difference/result_difference.ts";
import { EXIT_CODES, UsageError } from "../../errors.ts";
import { addFlags, type Flags } from "../opening/option_flags.ts";
import { formulasOfFile, withProgram } from "../opening/with_program.ts";
import { flagOf } from "../terminal/command_line.ts";
import { numberWhere } from "../terminal/option_values.ts";
import { print, terminalWidth } from "../terminal/terminal.ts";
import { programDifferenceText, resultDifferenceText } from "./diff_text.ts";

interface DiffFlags extends Flags {
  readonly data?: string;
  readonly dialectB?: string;
  readonly tolerance: number;
  readonly json?: true;
}

export function addDiff(program: Command): void {
  const command = program
    .command("diff")
    .description(
      "compare two results, or two formula files over the same bars, cell by cell; exits with 1 if they differ",
    )
    .argument("<a>", "a result (.parquet, .arrow, .csv or .csv.gz, rows in any order) or a formula file")
    .argument("<b>", "the other one; the same formula file with --dialect-b")
    .option(
      "--tolerance <number>",
      "cells a and b are the same where |a - b| <= tolerance + tolerance * |b|; 0 compares bits",
      parseTolerance,
      0,
    )
    .option("--data <path>", "bars over which formula files are compared, as for eval");
  addFlags(command, "factorloom diff")
    .option("--dialect-b <name>", "dialect of the second file, where it is not that of the first")
    .option("--json", "print the result as JSON; null stands for null and for infinities")
    .action(diff);
}

const parseTolerance = numberWhere(
  /\S/,
  (given) => Number.isFinite(given) && given >= 0,
  "A number that is not negative, e.g. 1e-9.",
);

async function diff(fileA: string, fileB: string, options: DiffFlags): Promise<void> {
  const { isTablePath } = await import("../../data/read/open_relation.ts");
  const isTable = isTablePath(fileA);
  if (isTable !== isTablePath(fileB)) throw incomparable("one is a result and the other a formula file");
  if (isTable) report(await diffTables(fileA, fileB, options), options, resultDifferenceText);
  else report(await diffFormulas(fileA, fileB, options), options, programDifferenceText);
}

function report<Difference extends ResultDifference>(
  result: Difference,
  { json }: DiffFlags,
  text: (result: Difference, width: number) => string,
): void {
  print(json ? JSON.stringify(result) : text(result, terminalWidth()));
  if (!result.isSame) process.exitCode = EXIT_CODES.input;
}

async function diffTables(
  fileA: string,
  fileB: string,
  { tolerance, json: _, ...others }: DiffFlags,
): Promise<ResultDifference> {
  const surplus = Object.entries(others).find(([, value]) => value !== undefined);
  if (surplus !== undefined)
    throw incomparable(`${flagOf(surplus[0])} is for formula files, and ${fileA} is a result`);
  const { diffResults } = await import("../../difference/result_difference.ts");
  return await diffResults(fileA, fileB, { tolerance });
}

/** What is given does not go together. */
function incomparable(problem: string): UsageError {
  return new UsageError("E523", problem, "give two results, or two formula files and --data");
}

async function diffFormulas(
  fileA: string,
  fileB: string,
  { data, dialectB, tolerance, ...others }: DiffFlags,
): Promise<ProgramDifference> {
  if (data === undefined) throw incomparable("formula files are compared over bars");
  const [formulasA, formulasB] = [await formulasOfFile(fileA), await formulasOfFile(fileB)];
  return await withProgram("factorloom diff", formulasA, { ...others, data }, async (opened) => {
    const { program: a, source } = opened;
    const b = opened.compile(formulasB, dialectB === undefined ? {} : { dialect: dialectB });
    const call = { ...opened.callOf(a, b), tolerance };
    return await opened.inEngine("compare", (engine) => engine.diff(a, b, source, call));
  });
}
