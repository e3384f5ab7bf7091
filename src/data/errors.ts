/** The errors of this room, one function each with message and remedy; those of side tables are in `side_tables/errors.ts`. */
import { DataError, errorsOf, ResourceError, UsageError } from "../errors.ts";

const notThere = errorsOf(DataError, "E301");
const noTable = errorsOf(DataError, "E306");
const keyUnclear = errorsOf(DataError, "E311");
const nameTwice = errorsOf(DataError, "E314");

/** Formats that `readPanel` accepts, for messages. */
const INPUT_FORMATS = ".csv, .csv.gz, .tsv, .parquet, .arrow, .feather or .ipc";
const SHOWN_CHARS_MAX = 60;
const SHOWN_COLUMNS_MAX = 20;

/** Quotes and shortens a value or name of the user's data. */
export function quoted(value: string): string {
  const characters = [...value];
  const shown =
    characters.length > SHOWN_CHARS_MAX ? `${characters.slice(0, SHOWN_CHARS_MAX).join("")}...` : value;
  return JSON.stringify(shown);
}

export function listed(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_COLUMNS_MAX).map((name) => quoted(name).slice(1, -1));
  const rest = names.length - shown.length;
  return shown.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** The first two names that differ at most by case; null if all differ by more. */
export function repeatedName(names: readonly string[]): [first: string, second: string] | null {
  const firstByKey = new Map<string, string>();
  for (const name of names) {
    const first = firstByKey.get(name.toLowerCase());
    if (first !== undefined) return [first, name];
    firstByKey.set(name.toLowerCase(), name);
  }
  return null;
}

export const fileMissing = (file: string) =>
  notThere(`${file}: there is no such file`, "check the path and the working directory");

export const fileUnreadable = (file: string, reason: string) =>
  notOpened(file, reason, "give the path of a readable file");

/** The error for something that cannot be opened, or a missing file or folder of a job or a session. */
export const notOpened = (path: string, reason: string, remedy: string, cause?: unknown) =>
  new DataError("E309", `${path}: cannot be opened (${reason})`, remedy, { cause });

export const extensionUnknown = (file: string) =>
  new DataError(
    "E302",
    `${file}: this kind of file is not known`,
    `use a ${INPUT_FORMATS} file, or a folder of .parquet or of Arrow files`,
  );

export const notParsable = (file: string, format: string, reason: string, cause: unknown) =>
  new DataError(
    "E303",
    `${file}: cannot be read as ${format} (${reason})`,
    "check that the file is complete and that its extension fits its content",
    { cause },
  );

export const noRows = (file: string) =>
  new DataError("E304", `${file}: has no rows`, "give a table with at least one row below its header");

export const malformedRow = (
  file: string,
  line: number,
  reason: string,
  remedy = 'give every line as many cells as the header has; cells that hold the delimiter need "quotes"',
) => new DataError("E305", `${file}: line ${line}: ${reason}`, remedy);

export const notUtf8 = (file: string, line: number, encoding: string) =>
  malformedRow(
    file,
    line,
    `is not UTF-8, but perhaps ${encoding}`,
    `convert the file: iconv -f ${encoding} -t UTF-8 old.csv > new.csv`,
  );

export const folderUnusable = (folder: string, problem: string) =>
  noTable(
    `${folder}: ${problem}`,
    "keep only .parquet files in it, or only Arrow files; names that start with . or _ are passed over",
  );

export const columnsDiffer = (file: string, first: string, difference: string) =>
  noTable(
    `${file}: its columns are not those of ${first}: ${difference}`,
    "give all files of a folder the same columns, in the same order and of the same types",
  );

export const databaseMissing = (file: string) =>
  notThere(`${file}: there is no such database`, "check the path");

export const queryFailed = (file: string, reason: string, cause: unknown) =>
  new DataError("E310", `${file}: the query fails: ${reason}`, "try it in DuckDB", { cause });

const KEY_NAMES = { time: "time, date, datetime or timestamp", symbol: "symbol" } as const;

export function keyColumnMissing(
  file: string,
  role: keyof typeof KEY_NAMES,
  wanted: string | undefined,
  columns: readonly string[],
): DataError {
  const what = `no ${role} column${wanted === undefined ? "" : ` ${quoted(wanted)}`}`;
  return keyUnclear(
    `${file}: ${what} among the columns ${listed(columns)}`,
    `name it ${KEY_NAMES[role]}, or say which column it is (--${role}-column; ${role}Column in the library)`,
  );
}

export const severalTimeColumns = (file: string, columns: readonly string[]) =>
  keyUnclear(
    `${file}: the columns ${listed(columns)} could each be the time column`,
    "say which one it is (--time-column; timeColumn in the library), or drop the others; join a date and a time of day into one column",
  );

export const sameName = (file: string, first: string, second: string) =>
  nameTwice(
    `${file}: the columns ${quoted(first)} and ${quoted(second)} have names that differ at most by case`,
    "rename or drop one of them",
  );

export function columnTypeUnusable(
  file: string,
  role: "time" | "symbol",
  name: string,
  type: string,
): DataError {
  const wanted = role === "time" ? "a date, a timestamp or a 32/64-bit integer" : "text or an integer";
  return typeRefused(`${file}: the ${role} column ${quoted(name)} has type ${type}`, `make it ${wanted}`);
}

export const columnUnreadable = (file: string, name: string, type: string) =>
  typeRefused(
    `${file}: the column ${quoted(name)} has type ${type}, whose digits cannot all be read`,
    "write it as doubles, as integers of 64 bits or as decimals of at most 38 digits, or drop the column",
  );

/** The error for a column of a type that cannot be read. */
const typeRefused = (problem: string, remedy: string) => new DataError("E315", problem, remedy);

export const symbolNotWhole = (file: string, name: string, value: string, place: string) =>
  new DataError(
    "E318",
    `${file}: the symbol column ${quoted(name)} has ${value} in ${place}, which is no whole number that a double holds`,
    "write symbols as text or as integers",
  );

export const timeTextInvalid = (file: string, name: string, value: string, place: string) =>
  new DataError(
    "E316",
    `${file}: the time column ${quoted(name)} has ${quoted(value)} in ${place}, which is not a date like the others`,
    "write all times alike: 2013-02-08, 2013-02-08 09:30:00, 2013-02-08 09:30:00+00, or an integer",
  );

export const textAmongNumbers = (file: string, name: string, value: string, place: string) =>
  new DataError(
    "E317",
    `${file}: the column ${quoted(name)} holds numbers, but ${quoted(value)} in ${place}`,
    "leave the cell empty where a value is missing, or drop the column",
  );

export const emptyKey = (file: string, role: "time" | "symbol", name: string, place: string) =>
  new DataError(
    "E321",
    `${file}: the ${role} column ${quoted(name)} is empty in ${place}`,
    `every row needs a ${role}; fill it in or drop the row`,
  );

export const timeInfinite = (file: string, name: string, place: string) =>
  new DataError(
    "E323",
    `${file}: the time column ${quoted(name)} is infinite in ${place}`,
    "every row needs a time; correct it or drop the row",
  );

/** Why times that differ in the file may be one, and how to have both. */
const TIME_CUTS = {
  microsecond: [
    "times are read to the microsecond here, and what is finer is cut off",
    "nanoseconds are exact in Arrow files, and in Parquet as timestamps without a time zone",
  ],
  day: ["times of type Date64 are read to the day", "write times of day as timestamps"],
} as const;

/** What times of a file are cut to, where they may be finer. */
export type TimeCut = keyof typeof TIME_CUTS;

/**
 * @param cells the first times and symbols that have several rows
 * @param count how many there are
 * @param cut what the times of the file are cut to
 */
export function duplicateRow(
  file: string,
  cells: readonly (readonly [time: string, symbol: string])[],
  count: number,
  first: string,
  second: string,
  cut: TimeCut | undefined,
): DataError {
  const [cell, ...others] = cells.map(([time, symbol]) =>
    symbol === "" ? time : `${quoted(symbol)} at ${time}`,
  );
  const more = [...others, ...(count > cells.length ? ["..."] : [])].join(", ");
  const also = count > 1 ? `, and so it is for ${count - 1} more: ${more}` : "";
  const keep = cells[0]![1] === "" ? "keep one row per time" : "keep one row per time and symbol";
  const [reason, remedy] = cut === undefined ? [] : TIME_CUTS[cut];
  return new DataError(
    "E322",
    `${file}: ${first} and ${second} are both for ${cell}${reason ? ` (${reason})` : ""}${also}`,
    `${keep}${remedy ? `; ${remedy}` : ""}`,
  );
}

export const seriesTimesDiffer = (file: string, own: string, panelFile: string, wanted: string) =>
  new DataError(
    "E337",
    `${file}: its times are of another kind (${own}) than those of ${panelFile} (${wanted})`,
    "write the times of both files alike",
  );

export const renamedMissing = (file: string, column: string, name: string, known: readonly string[]) =>
  new DataError(
    "E335",
    `${file}: no column ${quoted(column)} to be called ${quoted(name)}`,
    `its columns are ${listed(known)}`,
  );

export const renamedTaken = (file: string, column: string, name: string) =>
  nameTwice(
    `${file}: ${quoted(column)} cannot be called ${quoted(name)}: there is a column of that name`,
    `rename that one too, or use ${quoted(name)} as it is`,
  );

/** The mistake of a param, with its place in the table of params. */
export function paramOfTableInvalid(
  file: string,
  time: string,
  columns: readonly string[],
  cause: UsageError,
): UsageError {
  const place = `${file}: the column${columns.length > 1 ? "s" : ""} ${columns.map(quoted).join(", ")} at ${time}`;
  return new UsageError(cause.code, `${place}: ${cause.problem}`, cause.remedy, { cause });
}

export const factorNameTaken = (name: string, column: string) =>
  nameTwice(
    `the factor ${quoted(name)} has the name of the output column ${quoted(column)}`,
    "rename the factor",
  );

export const noRowsInRange = (first: string, last: string) =>
  new DataError(
    "E344",
    `no row is left between the given from and to: the data runs from ${first} to ${last}`,
    "choose from and to inside that range",
  );

export function panelTooLarge(
  file: string,
  rows: number,
  lanes: number,
  needBytes: number,
  haveBytes: number,
) {
  const gib = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  return new ResourceError(
    "E441",
    `${file}: ${rows} times x ${lanes} symbols need ${gib(needBytes)}, this machine has ${gib(haveBytes)}`,
    "give fewer columns or symbols, or round the times if nearly every row has a time of its own",
  );
}

export const inputTooLarge = (file: string, reason: string, cause: unknown) =>
  new ResourceError(
    "E441",
    `${file}: does not fit in memory and temporary files (${reason})`,
    "give a larger memory limit, or more space for temporary files (TMPDIR); Parquet sorted by time needs neither",
    { cause },
  );

export const spillFailed = (folder: string, reason: string, cause?: Error) =>
  new ResourceError(
    "E444",
    `results that wait do not fit in memory and cannot be kept in ${folder} (${reason})`,
    "check the free space and the permissions of the folder for temporary files (TMPDIR), or raise the memory limit",
    { cause },
  );

export const databaseBusy = (file: string, cause: unknown) =>
  new ResourceError(
    "E450",
    `${file}: another process has the database open`,
    "DuckDB lets one process write at a time: try again when the other one is done",
    { cause },
  );

export const databaseRefuses = (file: string, reason: string, cause: unknown) =>
  new ResourceError(
    "E442",
    `${file}: does not take the rows (${reason})`,
    "check the free space, and that the table has the columns of the factors",
    { cause },
  );

/** The error for a given time that is not of the type of the data. */
export const timeUnusable = (problem: string, remedy: string) => new UsageError("E541", problem, remedy);

export const timeArgumentInvalid = (text: string, wanted: string) =>
  timeUnusable(`${quoted(text)} is not ${wanted}`, "write it like the times in the data");

export const readingEnded = (file: string) =>
  new UsageError(
    "E548",
    `${file}: another reading of the same source has begun`,
    "read a source once at a time, or open the file again for the other reading",
  );

export const panelInvalid = (problem: string) =>
  new UsageError(
    "E522",
    `the panel does not fit together: ${problem}`,
    "times ascend, columns are row-major [rows x lanes], codes of groups run from -1 to one less than the labels",
  );
