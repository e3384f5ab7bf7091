/** The errors of tables beside the bars, one function each. */
import { DataError, errorsOf } from "../../errors.ts";
import { listed, quoted } from "../errors.ts";

const unusable = errorsOf(DataError, "E331");
const matchesNothing = errorsOf(DataError, "E337");

export function nothingBeside(file: string, key: "symbol" | "time", columns: readonly string[]): DataError {
  const [what, remedy] = {
    symbol: ["group column", "add a column of text or integers, for example sector"],
    time: ["column of numbers", "add a column in which every cell is a number or empty"],
  }[key] as [string, string];
  return unusable(`${file}: no ${what} beside the ${key} among the columns ${listed(columns)}`, remedy);
}

export const symbolTwice = (file: string, symbol: string, first: string, second: string) =>
  unusable(
    `${file}: ${first} and ${second} are both for ${quoted(symbol)}`,
    "keep one row per symbol: a group given here is the same at all times",
  );

export function renameIncomplete(file: string, column: string, place: string | null): DataError {
  const what =
    place === null ? `no column ${quoted(column)}` : `nothing in the column ${quoted(column)} of ${place}`;
  return unusable(`${file}: ${what}`, "write a line old,new,from for each change of a symbol");
}

export const renameInvalid = (file: string, symbol: string, place: string) =>
  unusable(`${file}: ${place} renames ${quoted(symbol)} to itself`, "drop the row");

export const renameTwice = (file: string, symbol: string, first: string, second: string) =>
  unusable(`${file}: ${first} and ${second} both rename ${quoted(symbol)} at one time`, "keep one of them");

export const groupsMatchNothing = (file: string, own: string, panelFile: string, wanted: string) =>
  matchesNothing(
    `${file}: none of its symbols is one of ${panelFile}: it has ${quoted(own)}, the other ${quoted(wanted)}`,
    "write symbols alike in both files",
  );

export function columnNameTaken(file: string, name: string, panelFile: string, taken: string): DataError {
  const problem = `${file}: the column ${quoted(name)} is also a column of ${panelFile} (${quoted(taken)})`;
  return nameTaken(problem, "rename or drop one of them");
}

export const seriesOfSymbols = (file: string, name: string) =>
  nameTaken(
    `${file}: has a symbol column ${quoted(name)}, but a number of a series is for all symbols`,
    "give numbers of each symbol as columns of the bars (--data), labels of each symbol as groups (--groups); drop the column where the numbers are for all symbols",
  );

const nameTaken = (problem: string, remedy: string) => new DataError("E314", problem, remedy);

export const seriesMatchNothing = (file: string, own: string, panelFile: string, wanted: string) =>
  matchesNothing(
    `${file}: none of its times is one of ${panelFile}: it begins at ${own}, the other at ${wanted}`,
    "give series for the times of the bars",
  );
