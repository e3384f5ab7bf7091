import type { DifferenceOrigin } from "../../difference/difference_origins.ts";
import type { ProgramDifference, TracedDifference } from "../../difference/program_difference.ts";
import type { ResultDifference } from "../../difference/result_difference.ts";
import { counted } from "../../text/counted.ts";
import { textWidth } from "../../text/text_width.ts";
import { cutEnd, fittingTable } from "../terminal/text_table.ts";

/** Lengths to which formulas are cut; the first one whose table is as narrow as the terminal is taken. */
const FORMULA_CHARACTERS = [40, 30, 20, 14, 12];
/** From here on columns are left out as well, and below it names are cut. */
const CHARACTERS_BESIDE_ALL = 20;
/** Of a longer formula that is shown from the middle on, the share that stands before the first difference. */
const SHARE_BEFORE = 0.3;
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
  const hasOrigins = differences.some(({ origins }) => (origins?.length ?? 0) > 0);
  const conditional = differences.filter(({ origins }) => origins?.length === 0).map(({ name }) => name);
  const leftOut = differences.filter(({ origins }) => origins === null).length;
  return [
    resultDifferenceText(result, width),
    ...(hasOrigins ? ["", "the smallest parts that differ though what they read is equal:"] : []),
    ...(hasOrigins ? [originTable(differences, width)] : []),
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
  return fittingTable(header, rows, { width, cut: 0, leastWanted: [5, 2, 3, 4, [7, 8], 6] });
}

const ORIGIN_HEADER = ["factor", "a", "line:column", "b", "line:column", "cells", "first cell", "a", "b"];

function originTable(differences: readonly TracedDifference[], width: number): string {
  let table = "";
  for (const charactersMax of FORMULA_CHARACTERS) {
    const rows = differences.flatMap((difference) => originRows(difference, charactersMax));
    const fit = charactersMax > CHARACTERS_BESIDE_ALL ? [] : [[7, 8], 6, 5, [2, 4]];
    table = fittingTable(ORIGIN_HEADER, rows, { width, cut: 0, leastWanted: fit });
    if (table.split("\n").every((line) => textWidth(line) <= width)) break;
  }
  return table;
}

function originRows({ name, origins }: TracedDifference, charactersMax: number): (string | number)[][] {
  return (origins ?? []).slice(0, ORIGINS_SHOWN_MAX).map(({ a, b, cellCount, first }: DifferenceOrigin) => {
    const [formulaA, formulaB] = shortPair(a.formula, b.formula, charactersMax);
    const [placeA, placeB] = [`${a.line}:${a.column}`, `${b.line}:${b.column}`];
    const cell = [`${first.time} ${first.symbol}`, valueText(first.a), valueText(first.b)];
    const shownName = charactersMax < CHARACTERS_BESIDE_ALL ? cutEnd(name, charactersMax) : name;
    return [shownName, formulaA, placeA, formulaB, placeB, cellCount, ...cell];
  });
}

function moreOrigins({ name, origins }: TracedDifference): string[] {
  const more = (origins ?? []).length - ORIGINS_SHOWN_MAX;
  return more > 0 ? [`${name}: ${counted(more, "more part")} (--json has them)`] : [];
}

/** Two formulas on one line each; longer ones are cut so that their first difference is seen. */
function shortPair(a: string, b: string, charactersMax: number): [string, string] {
  const [lineA, lineB] = [a, b].map((formula) => formula.replaceAll(/\s+/g, " ")) as [string, string];
  let same = 0;
  while (same < lineA.length && lineA[same] === lineB[same]) same++;
  // Where the end fits, it is shown whole.
  const end = Math.max(lineA.length, lineB.length) + DOTS.length - charactersMax;
  const before = Math.floor(SHARE_BEFORE * charactersMax);
  const from = end <= DOTS.length || same <= charactersMax / 2 ? 0 : Math.min(same - before, end);
  return [cut(lineA, from, charactersMax), cut(lineB, from, charactersMax)];
}

function cut(line: string, from: number, charactersMax: number): string {
  return cutEnd(`${from > 0 ? DOTS : ""}${line.slice(from)}`, charactersMax);
}

const valueText = (value: number | null) => (Object.is(value, -0) ? "-0" : String(value));
