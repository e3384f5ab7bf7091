import { type Command, InvalidArgumentError } from "commander";
import { compile, type Program } from "../../compile.ts";
import type { ProgramDifference } from "../../difference/program_difference.ts";
import type { ResultDifference } from "../../difference/result_difference.ts";
import { EXIT_CODES, UsageError } from "../../errors.ts";
import {
  type CallOptions,
  compileOptions,
  pick,
  sourceOptions,
  typedParams,
  warnOfIdleUniverse,
} from "../eval/call_options.ts";
import { addOptionsBesideData } from "../eval/eval.ts";
import { flagOf } from "../terminal/command_line.ts";
import { readFormulaFile } from "../terminal/formula_file.ts";
import { interruptionSignal } from "../terminal/interruption.ts";
import { print, terminalWidth } from "../terminal/terminal.ts";
import { Steps } from "../trace/steps.ts";
import { programDifferenceText, resultDifferenceText } from "./diff_text.ts";

interface DiffFileOptions extends Omit<CallOptions, "data"> {
  readonly data?: string;
  readonly dialectB?: string;
  readonly keepInf?: true;
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
    .option("--data <path>", "bars over which formula files are compared, as those of eval");
  addOptionsBesideData(command)
    .option("--dialect-b <name>", "dialect of the second file, where it is not that of the first")
    .option("--keep-inf", "compare infinities; without it they are nulls, as in the output of eval")
    .option("--json", "print the result as JSON; null stands for null and for infinities")
    .action(diff);
}

function parseTolerance(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError("A number that is not negative, e.g. 1e-9.");
  return value;
}

async function diff(fileA: string, fileB: string, options: DiffFileOptions): Promise<void> {
  const { isTablePath } = await import("../../data/read/open_relation.ts");
  const isTable = isTablePath(fileA);
  if (isTable !== isTablePath(fileB)) throw incomparable("one is a result and the other a formula file");
  if (isTable) report(await diffTables(fileA, fileB, options), options, resultDifferenceText);
  else report(await diffFormulas(fileA, fileB, options), options, programDifferenceText);
}

function report<Difference extends ResultDifference>(
  result: Difference,
  { json }: DiffFileOptions,
  text: (result: Difference, width: number) => string,
): void {
  print(json ? JSON.stringify(result) : text(result, terminalWidth()));
  if (!result.isSame) process.exitCode = EXIT_CODES.input;
}

async function diffTables(
  fileA: string,
  fileB: string,
  { tolerance, json: _, ...others }: DiffFileOptions,
): Promise<ResultDifference> {
  const [surplus] = Object.keys(others);
  if (surplus !== undefined)
    throw incomparable(`${flagOf(surplus)} is for formula files, and ${fileA} is a result`);
  const { diffResults } = await import("../../difference/result_difference.ts");
  return await diffResults(fileA, fileB, { tolerance });
}

/** What is given does not go together. */
function incomparable(problem: string): UsageError {
  return new UsageError("E565", problem, "give two results, or two formula files and --data");
}

/** Loaded here, so that other commands start faster: see `loadEngine` of `eval`. */
async function loadModules() {
  const [{ default: ora }, input, { Engine }] = await Promise.all([
    import("ora"),
    import("../../data/source/open_panel_source.ts"),
    import("../../engine.ts"),
  ]);
  return { ora, ...input, Engine };
}

async function diffFormulas(
  fileA: string,
  fileB: string,
  { data, ...given }: DiffFileOptions,
): Promise<ProgramDifference> {
  if (data === undefined) throw incomparable("formula files are compared over bars");
  const options = { ...given, data };
  const [textA, textB] = [await readFormulaFile(fileA), await readFormulaFile(fileB)];
  const { ora, openPanelSource, Engine } = await loadModules();
  const steps = new Steps(ora);
  const source = await steps.run("read", () => openPanelSource(data, sourceOptions(options)));
  try {
    const ofB = { ...options, ...(options.dialectB && { dialect: options.dialectB }) };
    const a = compile(textA, compileOptions(fileA, source, options));
    const b = compile(textB, compileOptions(fileB, source, ofB));
    for (const program of [a, b]) warnOfIdleUniverse(program, options.universe);
    await using engine = await Engine.start(pick(options, ["threads", "memoryLimit"]));
    return await steps.run("compare", () =>
      engine.diff(a, b, source, {
        ...pick(options, ["select", "from", "to", "paramsByTime", "tolerance"]),
        params: paramsOf(a, b, options),
        keepInfinite: options.keepInf === true,
        signal: interruptionSignal(),
        onProgress: (rowsDone, rowCount) => steps.show(rowsDone / rowCount),
      }),
    );
  } finally {
    await source.close();
  }
}

/** Each param with the type that a program declares. */
function paramsOf(a: Program, b: Program, { param = {} }: CallOptions) {
  const typed = Object.entries(param).map(([name, text]) =>
    typedParams(a.params.has(name) ? a : b, { [name]: text }),
  );
  return Object.assign({}, ...typed) as ReturnType<typeof typedParams>;
}
