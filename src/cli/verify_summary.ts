import type { Program } from "../compile.ts";
import { formatTime } from "../data/time_text.ts";
import type { DifferingCell, FactorDifference } from "../verify/comparison.ts";
import type { CheckResult, Verification } from "../verify/verify.ts";
import { formatMs, type StageTimes } from "./eval_summary.ts";
import { formatTable } from "./text_table.ts";

/** Factors that the table names for one check. */
const NAMED_FACTORS_MAX = 3;

/** What `--json` prints. */
export function verifySummary(program: Program, verification: Verification, times: StageTimes) {
  const { factors, factorsNotWanted, rowCount, threads, holds, checks } = verification;
  return {
    file: program.file,
    dialect: program.dialect,
    factorCount: factors.length,
    factorsNotWanted,
    rowCount,
    threads,
    holds,
    checks: checks.map((check) => summariseCheck(check, verification)),
    stagesMs: Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, rounded(ms)])),
  };
}

type Summary = ReturnType<typeof verifySummary>;
type CheckSummary = Summary["checks"][number];

function summariseCheck(
  { name, cellCount, differences, elapsedMs }: CheckResult,
  verification: Verification,
) {
  return {
    name,
    cellCount,
    differingCount: sum(differences, ({ cellCount: count }) => count),
    /** Among them those where one side is null or infinite: they have no distance. */
    incomparableCount: sum(differences, ({ incomparableCount: count }) => count),
    /** Null where no cell was compared. */
    holds: cellCount === 0 ? null : differences.length === 0,
    relativeMax: differences.reduce((most, { relativeMax }) => Math.max(most, relativeMax), 0),
    ulpMax: differences.reduce((most, { ulpMax }) => Math.max(most, ulpMax), 0),
    factors: differences.map((difference) => ({
      ...difference,
      first: placed(difference.first, verification),
    })),
    elapsedMs: rounded(elapsedMs),
  };
}

/** A differing cell with its time and symbol; numbers that JSON does not know are texts, null is null. */
function placed({ row, lane, usual, other }: DifferingCell, { time, symbols }: Verification) {
  return {
    time: formatTime(time.values[row] as bigint, time.type),
    symbol: symbols[lane] as string,
    usual: shownValue(usual),
    other: shownValue(other),
  };
}

function shownValue(value: number): number | string | null {
  if (Number.isNaN(value)) return null;
  return Number.isFinite(value) && !Object.is(value, -0)
    ? value
    : Object.is(value, -0)
      ? "-0"
      : String(value);
}

export function verifyText(summary: Summary): string {
  const { file, factorCount, rowCount, factorsNotWanted, checks, stagesMs } = summary;
  const rows = checks.map((check) => [
    check.name,
    check.cellCount,
    check.differingCount,
    check.holds === null ? "nothing to compare" : check.holds ? "yes" : "NO",
    deviationText(check),
    formatMs(check.elapsedMs),
    namesText(check.factors),
  ]);
  const header = ["check", "cells", "differ", "bit-identical", "largest deviation", "time", "factors"];
  const broken = checks.filter(({ holds }) => holds === false);
  const times = Object.entries(stagesMs).map(([name, ms]) => `${name} ${formatMs(ms)}`);
  return [
    formatTable(header, rows),
    "",
    ...broken.map(exampleText),
    ...(broken.length > 0 ? [""] : []),
    `${file}: ${factorCount} factors x ${rowCount.toLocaleString("en")} rows`,
    ...(factorsNotWanted.length > 0
      ? [`not wanted by their conditions: ${factorsNotWanted.join(", ")}`]
      : []),
    `time: ${times.join(", ")}`,
    verdict(summary),
  ].join("\n");
}

function deviationText({
  holds,
  relativeMax,
  ulpMax,
  differingCount,
  incomparableCount,
}: CheckSummary): string {
  if (holds !== false) return "";
  const parts: string[] = [];
  if (ulpMax > 0) parts.push(`${relativeMax.toPrecision(2)}, ${ulpText(ulpMax)}`);
  else if (differingCount > incomparableCount) parts.push("sign of 0");
  if (incomparableCount > 0)
    parts.push(`${incomparableCount.toLocaleString("en")} null or infinite on one side`);
  return parts.join("; ");
}

function ulpText(ulps: number): string {
  return `${ulps < 1e6 ? ulps.toLocaleString("en") : ulps.toPrecision(2)} ulp`;
}

function namesText(factors: readonly Pick<FactorDifference, "name">[]): string {
  const named = factors.slice(0, NAMED_FACTORS_MAX).map(({ name }) => name);
  const more = factors.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

/** The first differing cell of a broken check. */
function exampleText({ name, factors }: CheckSummary): string {
  const [{ name: factor, first }] = factors as [CheckSummary["factors"][number]];
  const { time, symbol, usual, other } = first;
  return `${name}: ${factor} at ${time}, ${symbol} is ${usual} in the usual run and ${other} in this one`;
}

function verdict({ checks, factorCount }: Summary): string {
  const tried = checks.filter(({ holds }) => holds !== null);
  const broken = tried.filter(({ holds }) => holds === false);
  const cells = sum(tried, ({ cellCount }) => cellCount).toLocaleString("en");
  if (broken.length === 0)
    return `holds: ${tried.length} of ${checks.length} checks, ${cells} cells of ${factorCount} factors, every bit the same`;
  const names = broken.map(({ name }) => name).join("; ");
  return `BROKEN: ${broken.length} of ${tried.length} checks (${names}): please report it with the formula and the data`;
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
