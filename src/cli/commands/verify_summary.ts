import type { Program } from "../../compile.ts";
import { counted } from "../../text/counted.ts";
import { isBroken } from "../../verify/comparison.ts";
import type { CheckResult, Verification } from "../../verify/verify.ts";
import { formatMs, type StepTimes, tenths, timesText } from "../terminal/progress.ts";
import { tableOf } from "../terminal/text_table.ts";

/** Factors that the table names for one check. */
const NAMED_FACTORS_MAX = 3;

/** What `--json` prints. */
export function verifySummary(program: Program, verification: Verification, times: StepTimes) {
  const { factors, factorsNotWanted, factorsWithoutValue, rowCount, threads, holds, checks } = verification;
  return {
    file: program.file,
    dialect: program.dialect,
    factorCount: factors.length,
    factorsNotWanted,
    factorsWithoutValue,
    rowCount,
    threads,
    holds,
    checks: checks.map(summariseCheck),
    stagesMs: times,
  };
}

type Summary = ReturnType<typeof verifySummary>;
type CheckSummary = Summary["checks"][number];

function summariseCheck(check: CheckResult) {
  const { name, isAsUsual, cellCount, differences, miscounts, otherTimeCount, otherPresenceCount } = check;
  return {
    name,
    isAsUsual,
    cellCount,
    differingCount: sum(differences, ({ cellCount: count }) => count),
    /** Differing cells without a distance: one side is null or infinite. */
    incomparableCount: sum(differences, ({ nullCount, infiniteCount }) => nullCount + infiniteCount),
    /** Null if nothing was compared. */
    holds: isBroken(check) ? false : cellCount === 0 ? null : true,
    relativeMax: differences.reduce((most, { relativeMax }) => Math.max(most, relativeMax), 0),
    ulpMax: differences.reduce((most, { ulpMax }) => Math.max(most, ulpMax), 0),
    factors: differences.map(({ first: { a, b, ...place }, ...difference }) => ({
      ...difference,
      first: { ...place, usual: shownValue(a), other: shownValue(b) },
    })),
    miscounts,
    otherTimeCount,
    otherPresenceCount,
    elapsedMs: tenths(check.elapsedMs),
  };
}

/** Infinities and -0, which JSON lacks, are texts. */
function shownValue(value: number | null): number | string | null {
  if (Object.is(value, -0)) return "-0";
  return value === null || Number.isFinite(value) ? value : String(value);
}

export function verifyText(summary: Summary): string {
  const { file, factorCount, rowCount, factorsNotWanted, factorsWithoutValue, checks, stagesMs } = summary;
  const table = tableOf(checks, {
    check: ({ name }) => name,
    cells: ({ cellCount }) => cellCount,
    differ: ({ differingCount }) => differingCount,
    "bit-identical": answerText,
    "largest deviation": deviationText,
    time: ({ elapsedMs }) => formatMs(elapsedMs),
    factors: (check) => namesText(new Set([...check.factors, ...check.miscounts].map(({ name }) => name))),
  });
  const broken = checks.filter(({ holds }) => holds === false);
  return [
    table,
    "",
    ...broken.map(exampleText),
    ...(broken.length > 0 ? [""] : []),
    `${file}: ${counted(factorCount, "factor")} x ${counted(rowCount, "row")}`,
    ...(factorsNotWanted.length > 0
      ? [`not wanted by their conditions: ${factorsNotWanted.join(", ")}`]
      : []),
    ...(factorsWithoutValue.length > 0 ? [`null throughout: ${factorsWithoutValue.join(", ")}`] : []),
    `time: ${timesText(stagesMs)}`,
    verdict(summary),
  ].join("\n");
}

function answerText({ isAsUsual, holds }: CheckSummary): string {
  if (isAsUsual) return "same plan as usual";
  return holds === null ? "nothing to compare" : holds ? "yes" : "NO";
}

function deviationText(check: CheckSummary): string {
  const { relativeMax, ulpMax, differingCount, incomparableCount } = check;
  const { miscounts, otherTimeCount, otherPresenceCount } = check;
  if (check.holds !== false) return "";
  const parts: string[] = [];
  if (otherTimeCount > 0) parts.push(`other times in ${counted(otherTimeCount, "row")}`);
  if (otherPresenceCount > 0) parts.push(`other symbols in ${counted(otherPresenceCount, "cell")}`);
  if (miscounts.length > 0)
    parts.push(
      `${sum(miscounts, ({ cellCount }) => cellCount).toLocaleString("en")} of ${counted(
        sum(miscounts, ({ expectedCount }) => expectedCount),
        "cell",
      )}`,
    );
  if (ulpMax > 0) parts.push(`${relativeMax.toPrecision(2)}, ${ulpText(ulpMax)}`);
  else if (differingCount > incomparableCount) parts.push("sign of 0");
  if (incomparableCount > 0)
    parts.push(`${incomparableCount.toLocaleString("en")} null or infinite on one side`);
  return parts.join("; ");
}

function ulpText(ulps: number): string {
  return `${ulps < 1e6 ? ulps.toLocaleString("en") : ulps.toPrecision(2)} ulp`;
}

function namesText(factors: ReadonlySet<string>): string {
  const named = [...factors].slice(0, NAMED_FACTORS_MAX);
  const more = factors.size - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

/** The first differing cell of a broken check, or else what differs about the run. */
function exampleText(check: CheckSummary): string {
  const { name, factors, miscounts } = check;
  const [difference] = factors;
  const [miscount] = miscounts;
  if (!difference && !miscount) return `${name}: ${deviationText(check)}`;
  if (!difference) {
    const { name: factor, cellCount, expectedCount } = miscount as NonNullable<typeof miscount>;
    const cells = cellCount.toLocaleString("en");
    return `${name}: ${factor} has ${cells} of the ${counted(expectedCount, "cell")} of the usual run`;
  }
  const { name: factor, first } = difference;
  const { time, symbol, usual, other } = first;
  return `${name}: ${factor} at ${time}, ${symbol} is ${usual} in the usual run and ${other} in this one`;
}

function verdict({ checks, factorCount, factorsWithoutValue }: Summary): string {
  const own = checks.filter(({ isAsUsual }) => !isAsUsual);
  const tried = checks.filter(({ holds }) => holds !== null);
  const broken = tried.filter(({ holds }) => holds === false);
  const cells = counted(
    sum(tried, ({ cellCount }) => cellCount),
    "cell",
  );
  if (broken.length === 0 && factorsWithoutValue.length === factorCount)
    return "nothing to compare: no factor has a single value";
  if (tried.length === 0) return "nothing to compare: no check computes anything in another way";
  if (broken.length === 0)
    return `holds: ${tried.length} of ${counted(own.length, "check")}, ${cells} of ${counted(factorCount, "factor")}, every bit the same`;
  const names = broken.map(({ name }) => name).join("; ");
  return `BROKEN: ${broken.length} of ${counted(tried.length, "check")} (${names}): please report it with the formula and the data`;
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
