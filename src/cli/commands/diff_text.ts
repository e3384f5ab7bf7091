import type { DifferenceOrigin } from "../../difference/difference_origins.ts";
import type { ProgramDifference, TracedDifference } from "../../difference/program_difference.ts";
import type { ResultDifference } from "../../difference/result_difference.ts";
import { counted } from "../../text/counted.ts";
import { fittingTable } from "../terminal/text_table.ts";

const FORMULA_CHARACTERS_MAX = 40;
/** Of a longer formula that is shown from the middle on, what stands before the first difference. */
const CHARACTERS_BEFORE = 12;
const DOTS = "...";
/** Names of factors of one side that are printed. */
const NAMES_SHOWN_MAX = 20;
/** Origins of one factor that are printed; `--json` has all. */
const ORIGINS_SHOWN_MAX = 5;

/** A difference of results for a terminal of a width. */
export function resultDifferenceText(result: ResultDifference, width: number): string {
  const { compared, onlyInA, onlyInB, rowCount, rowsOnlyInA, rowsOnlyInB, differences } = result;
  const lines = [
    `${counted(compared.length, "factor")} and ${counted(rowCount, "row")} compared: ` +
      (differences.length === 0
        ? "no cell differs"
        : `${counted(differences.length, "factor")} with other values`),
  ];
  if (rowsOnlyInA > 0) lines.push(`${counted(rowsOnlyInA, "row")} only in the first`);
  if (rowsOnlyInB > 0) lines.push(`${counted(rowsOnlyInB, "row")} only in the second`);
  if (onlyInA.length > 0) lines.push(`only in the first: ${namesText(onlyInA)}`);
  if (onlyInB.length > 0) lines.push(`only in the second: ${namesText(onlyInB)}`);
  if (differences.length > 0) lines.push(factorTable(result, width));
  return lines.join("\n");
}

function namesText(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN_MAX;
  return names.slice(0, NAMES_SHOWN_MAX).join(", ") + (more > 0 ? ` and ${more} more (--json has them)` : "");
}

/** A difference of formulas for a terminal: the same, and where each difference begins. */
export function programDifferenceText(result: ProgramDifference, width: number): string {
  const { differences } = result;
  const rows = differences.flatMap(originRows);
  const conditional = differences.filter(({ origins }) => origins?.length === 0).map(({ name }) => name);
  const leftOut = differences.filter(({ origins }) => origins === null).length;
  return [
    resultDifferenceText(result, width),
    ...(rows.length === 0 ? [] : ["", "the smallest parts that differ though what they read is equal:"]),
    ...(rows.length === 0 ? [] : [fittingTable(ORIGIN_HEADER, rows, { width, leastWanted: [8, 7, 6, 5] })]),
    ...differences.flatMap(moreOrigins),
    ...(conditional.length === 0 ? [] : [`only their conditions differ: ${conditional.join(", ")}`]),
    ...(leftOut === 0 ? [] : [`not looked into: ${counted(leftOut, "more factor")} (--select names some)`]),
  ].join("\n");
}

function factorTable({ differences }: ResultDifference, width: number): string {
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
  return fittingTable(header, rows, { width, leastWanted: [5, 2, 3, 4] });
}

const ORIGIN_HEADER = ["factor", "a", "line:column", "b", "line:column", "cells", "first cell", "a", "b"];

function originRows({ name, origins }: TracedDifference): (string | number)[][] {
  return (origins ?? []).slice(0, ORIGINS_SHOWN_MAX).map(({ a, b, cellCount, first }: DifferenceOrigin) => {
    const [formulaA, formulaB] = shortPair(a.formula, b.formula);
    const [placeA, placeB] = [`${a.line}:${a.column}`, `${b.line}:${b.column}`];
    const cell = [`${first.time} ${first.symbol}`, valueText(first.a), valueText(first.b)];
    return [name, formulaA, placeA, formulaB, placeB, cellCount, ...cell];
  });
}

function moreOrigins({ name, origins }: TracedDifference): string[] {
  const more = (origins ?? []).length - ORIGINS_SHOWN_MAX;
  return more > 0 ? [`${name}: ${counted(more, "more part")} (--json has them)`] : [];
}

/** Two formulas on one line each; longer ones are cut so that their first difference is seen. */
function shortPair(a: string, b: string): [string, string] {
  const [lineA, lineB] = [a, b].map((formula) => formula.replaceAll(/\s+/g, " ")) as [string, string];
  let same = 0;
  while (same < lineA.length && lineA[same] === lineB[same]) same++;
  // Where the end fits, it is shown whole.
  const end = Math.max(lineA.length, lineB.length) + DOTS.length - FORMULA_CHARACTERS_MAX;
  const from =
    end <= DOTS.length || same <= FORMULA_CHARACTERS_MAX / 2 ? 0 : Math.min(same - CHARACTERS_BEFORE, end);
  return [cut(lineA, from), cut(lineB, from)];
}

function cut(line: string, from: number): string {
  const rest = `${from > 0 ? DOTS : ""}${line.slice(from)}`;
  const isLong = rest.length > FORMULA_CHARACTERS_MAX;
  return isLong ? `${rest.slice(0, FORMULA_CHARACTERS_MAX - DOTS.length)}${DOTS}` : rest;
}

const valueText = (value: number | null) => (Object.is(value, -0) ? "-0" : String(value));
