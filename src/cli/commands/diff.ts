import { type Command, InvalidArgumentError } from "commander";
import type { ResultDifference } from "../../difference/result_difference.ts";
import { EXIT_CODES } from "../../errors.ts";
import { counted } from "../../text/counted.ts";
import { print } from "../terminal/terminal.ts";
import { formatTable } from "../terminal/text_table.ts";

interface DiffOptions {
  readonly tolerance: number;
  readonly json?: true;
}

export function addDiff(program: Command): void {
  program
    .command("diff")
    .description("compare two results cell by cell; exits with 1 if they differ")
    .argument("<a>", "a result: .parquet, .arrow, .csv or .csv.gz, rows in any order")
    .argument("<b>", "the other one")
    .option(
      "--tolerance <number>",
      "cells a and b are the same where |a - b| <= tolerance + tolerance * |b|; 0 compares bits",
      parseTolerance,
      0,
    )
    .option("--json", "print the result as JSON; null stands for null and for infinities")
    .action(diff);
}

function parseTolerance(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError("A number that is not negative, e.g. 1e-9.");
  return value;
}

async function diff(fileA: string, fileB: string, { tolerance, json }: DiffOptions): Promise<void> {
  const { diffResults } = await import("../../difference/result_difference.ts");
  const result = await diffResults(fileA, fileB, { tolerance });
  print(json ? JSON.stringify(result) : diffText(result));
  if (!result.isSame) process.exitCode = EXIT_CODES.input;
}

function diffText(result: ResultDifference): string {
  const { compared, onlyInA, onlyInB, rowCount, rowsOnlyInA, rowsOnlyInB, differences } = result;
  const lines = [
    `${counted(compared.length, "factor")} and ${counted(rowCount, "row")} compared: ` +
      (differences.length === 0
        ? "no cell differs"
        : `${counted(differences.length, "factor")} with other values`),
  ];
  if (rowsOnlyInA > 0) lines.push(`${counted(rowsOnlyInA, "row")} only in the first`);
  if (rowsOnlyInB > 0) lines.push(`${counted(rowsOnlyInB, "row")} only in the second`);
  if (onlyInA.length > 0) lines.push(`only in the first: ${onlyInA.join(", ")}`);
  if (onlyInB.length > 0) lines.push(`only in the second: ${onlyInB.join(", ")}`);
  if (differences.length > 0) lines.push(tableOf(result));
  return lines.join("\n");
}

function tableOf({ differences }: ResultDifference): string {
  const header = ["factor", "cells", "null in one", "absolute", "relative", "ulp", "first cell", "a", "b"];
  const rows = differences.map(({ name, cellCount, nullCount, absoluteMax, relativeMax, ulpMax, first }) => [
    name,
    cellCount,
    nullCount,
    absoluteMax.toPrecision(3),
    relativeMax.toPrecision(3),
    ulpMax.toPrecision(3),
    `${first.time} ${first.symbol}`,
    valueText(first.a),
    valueText(first.b),
  ]);
  return formatTable(header, rows);
}

const valueText = (value: number | null) => (Object.is(value, -0) ? "-0" : String(value));
