/** The errors of sessions: bars and arguments. */
import { checkpointForeign } from "../checkpoint/errors.ts";
import { DataError, errorsOf, ResourceError, UsageError } from "../errors.ts";
import { shownValue } from "../text/argument_kinds.ts";
import { counted } from "../text/counted.ts";
import { nearestName, suggestion } from "../text/suggest.ts";

/** An aborted row that has begun may take this long to end. */
export const ABORT_GRACE_MS = 2_000;

const outOfOrder = errorsOf(DataError, "E371");
const notTaken = errorsOf(DataError, "E373");
const columnUnfit = errorsOf(DataError, "E383");
const notOpenedFor = errorsOf(UsageError, "E551");

export const timeNotAfter = (time: string, last: string) =>
  outOfOrder(
    `a bar of ${time} comes after one of ${last}`,
    "push bars in the order of their times, each time once; revise replaces the newest bar",
  );

/** The bar at which windows restarted was taken back; those before it are gone. */
export const timeBeforeRestart = (time: string, begun: string) =>
  outOfOrder(
    `windows have restarted for a bar of ${begun}; one of ${time} is of the rows before`,
    "push bars in the order of their times, or open the session again from the last checkpoint",
  );

/** A bar that was not taken although nothing is wrong with it; `cause` says why. */
const refused = (problem: string, remedy: string, cause: unknown) =>
  new ResourceError("E412", problem, remedy, { cause });

/** The push was aborted before its turn, or before all its bars had begun. */
export const pushAborted = (taken: number, count: number, cause: unknown) =>
  refused(
    `the push was aborted: ${taken === 0 ? "its bar was" : `${taken} of its ${count} bars were taken, the others were`} not taken`,
    "push what was not taken again; session.lastTime is the newest bar that was",
    cause,
  );

/** A row ahead has failed inside: the state was made again from the rows before it. */
export const barBehindFailure = (cause: unknown) =>
  refused(
    "an earlier bar failed while this one was under way or waited: neither was taken",
    "push it again, from the first bar that did not come through",
    cause,
  );

/** An aborted row did not end: its thread was ended, and the state was made again from the rows before it. */
export const rowEnded = (cause: unknown) =>
  refused(
    `the push was aborted, and its row was still running ${ABORT_GRACE_MS / 1000} s later: it was ended, and the bar was not taken`,
    "push it again; an operator of yours that takes this long holds up everything",
    cause,
  );

/** Two calls over one bar: what formulas carry depends on this param. */
export const paramsDiffer = (name: string, value: number, first: number) =>
  new UsageError(
    "E528",
    `the param ${name} is ${value}, and the newest bar was run with ${first}: formulas use it as a value`,
    "give the bar's value, or none; for another value push to another session",
  );

export const timeNotNewest = (time: string, newest: string) =>
  outOfOrder(
    `a bar of ${time} cannot replace the newest one, of ${newest}`,
    "revise takes a bar of the newest time alone",
  );

export const timeInvalid = (time: unknown, type: string) =>
  timeForeign(
    `the time of a bar is ${shownValue(time)}, the session's times are ${type}`,
    "give a bigint or a whole number in units of the session's time type, or a Date",
  );

export function timeOfOtherUnit(
  time: bigint,
  type: string,
  likely: { readonly unit: string; readonly text: string } | undefined,
): DataError {
  const remedy = likely
    ? `it is ${likely.text} in ${likely.unit}: convert it, or open the session with time.type.unit "${likely.unit}"`
    : "give it in units of the session's time type, or as a Date";
  return timeForeign(
    `the time of a bar is ${time}, beyond the year 9999; the session's times are ${type}`,
    remedy,
  );
}

export const timeTypesDiffer = (found: string, expected: string) =>
  timeForeign(
    `the panel's times are ${found}, the session's are ${expected}`,
    "open the session with the time column of its bars: the option time",
  );

/** A value that is no time of the session: no time at all, of another unit, or of another type. */
const timeForeign = (problem: string, remedy: string) => new DataError("E372", problem, remedy);

export function symbolUnknown(symbol: string, known: Iterable<string>): DataError {
  const nearest = nearestName(symbol, known);
  const remedy = "give it to open, or add it: await session.addSymbols([...])";
  return notTaken(
    `the session has no symbol ${JSON.stringify(symbol)}`,
    nearest ? `did you mean ${nearest}? else ${remedy}` : remedy,
  );
}

export const symbolInvalid = (symbol: unknown, index: number) =>
  notTaken(
    `symbols[${index}] is ${shownValue(symbol)}, not the name of an instrument`,
    "give each symbol as a text that is not empty",
  );

export const duplicateSymbol = (symbol: string) =>
  notTaken(`the symbol ${JSON.stringify(symbol)} is given twice`, "give each symbol once");

export function barColumnMissing(kind: "field" | "group column", name: string): DataError {
  const remedy =
    kind === "field"
      ? "give all fields that the formulas read, with null where there is no value"
      : "give it with the bar, or once for each symbol: the option groups of open";
  return columnUnfit(`the bar has no ${kind} ${name}`, remedy);
}

export function groupColumnUnknown(column: string, known: ReadonlySet<string>): DataError {
  const remedy = suggestion(column, known, `its group columns: ${[...known].join(", ") || "none"}`);
  return notTaken(`the session has no group column ${column}`, remedy);
}

export const groupChanged = (symbol: string, column: string) =>
  notTaken(
    `${JSON.stringify(symbol)} is in the session already, with another ${column}`,
    `give the labels of new symbols alone; a ${column} that changes comes with the bars: { time, fields, groups }`,
  );

export const lengthWrong = (name: string, found: number, expected: number) =>
  columnUnfit(
    `${name} has ${counted(found, "value")}, the bar has ${counted(expected, "symbol")}`,
    "give one value per symbol, in the order of session.symbols or of the bar's own symbols",
  );

export const valueInvalid = (name: string, value: unknown, wanted: string) =>
  columnUnfit(`${name} holds ${shownValue(value)}, not ${wanted}`, `give ${wanted}, or null`);

export const nothingToRevise = (reason: string) =>
  outOfOrder(`there is no bar to revise: ${reason}`, "revise follows a push that has succeeded");

export const notRevisable = () =>
  notOpenedFor("the session is not revisable", "open it with revisable: true");

export function tooFewRowsKept(factor: string, wanted: number, kept: number): UsageError {
  const rows = Number.isFinite(wanted) ? `${wanted}` : "all";
  return notOpenedFor(
    `${factor} depends on ${rows} rows, the session has ${kept} of them with the params of the newest`,
    "open it with a larger retainRows, or explain the cell with engine.why over the history",
  );
}

export const noSymbols = () =>
  new UsageError("E528", "a session without symbols", "give symbols, a warmup or a checkpoint");

export const noSpareLane = (wanted: number, free: number) =>
  notOpenedFor(
    `${counted(wanted, "symbol")} to add, the session has room for ${free}`,
    "open it with more spareSymbols",
  );

export const optionInvalid = (name: string, value: unknown, wanted: string) =>
  new UsageError("E528", `${name} is ${shownValue(value)}`, `give ${wanted}`);

export const checkpointOfOtherSession = (reason: string) => checkpointForeign(reason);

export const sessionClosed = () =>
  new ResourceError("E404", "the session was closed", "await what is under way before closing it");
