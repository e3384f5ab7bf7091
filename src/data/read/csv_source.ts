/**
 * Opens CSV as a relation, with a fixed dialect and explicit types. DuckDB's guesses would read 10/02/2013 as October or as
 * February depending on the sample, and drop the zeros of the symbol 000001. Cells are read as text or as DOUBLE; times
 * are text until `createTimes` has seen all of them.
 */
import { counted } from "../../text/counted.ts";
import { type Database, queryRows, sqlInputPath } from "../duckdb/database.ts";
import {
  columnId,
  type InputColumn,
  type KeyColumns,
  type KeyFinder,
  parsing,
  type Relation,
} from "../duckdb/relation.ts";
import { malformedRow, notUtf8 } from "../errors.ts";
import { textNumberSql } from "./column_roles.ts";
import {
  CARRIAGE_RETURN,
  type CsvDialect,
  checkGzip,
  findLineOfRow,
  findOtherEncoding,
  findOtherLineEnd,
  readCsvHeader,
} from "./csv_text.ts";
import type { InputFiles } from "./input_files.ts";

/** Rows from which columns of numbers are guessed; a wrong guess costs two more passes, never a wrong value. */
const HEAD_ROWS = 2048;

interface CsvFile {
  readonly database: Database;
  readonly file: string;
  readonly format: string;
  readonly path: string;
  readonly dialect: CsvDialect;
}

/** Loads a CSV file (comma or, for .tsv, tab; UTF-8; header line) into the table `raw`. */
export async function openCsv(
  database: Database,
  { file, paths }: InputFiles,
  findKeys: KeyFinder,
): Promise<Relation> {
  const path = paths[0]!;
  const shape = {
    delimiter: /\.tsv(\.gz)?$/i.test(path) ? "\t" : ",",
    gzipped: /\.gz$/i.test(path),
  };
  const format = shape.gzipped ? "gzipped CSV" : "CSV";
  const { names, lineEnd } = await parsing(file, format, () => readCsvHeader(file, path, shape));
  const dialect = { ...shape, lineEnd };
  const csv = { database, file, format, path, dialect };
  const keys = findKeys(names);
  const guess = await parsingLines(csv, () => guessNumbers(csv, names.length, keys));
  const [whole, load] = await Promise.allSettled([
    dialect.gzipped ? parsing(file, format, () => checkGzip(path)) : undefined,
    loadRows(csv, guess),
  ]);
  if (whole.status === "rejected") throw whole.reason;
  if (load.status === "rejected") throw load.reason;
  return {
    database,
    file,
    format,
    keys,
    columns: names.map((name, index) => describeColumn(name, index, load.value[index]!)),
    describeRow: async (rowNumber) =>
      `row ${rowNumber} (line ${await findLineOfRow(path, dialect, rowNumber)})`,
  };
}

function describeColumn(name: string, index: number, isNumber: boolean): InputColumn {
  const kind = name === "" ? "ignored" : isNumber ? "number" : "text";
  return { name, id: columnId(index), kind, typeName: isNumber ? "DOUBLE" : "VARCHAR", time: null };
}

/** Whether each column may hold numbers. All columns of group tables are text, so that the code 0010 keeps its zeros. */
async function guessNumbers(csv: CsvFile, columnCount: number, keys: KeyColumns): Promise<boolean[]> {
  if (keys.time === null) return new Array<boolean>(columnCount).fill(false);
  const head = `(SELECT * FROM ${readCsvSql(csv, columnCount, true)} LIMIT ${HEAD_ROWS})`;
  const areNumbers = await numericColumns(csv, columnCount, head);
  return areNumbers.map((isNumber, index) => isNumber && index !== keys.time && index !== keys.symbol);
}

/** For each column of text, whether it has cells and all of them are numbers. */
async function numericColumns(csv: CsvFile, columnCount: number, rows: string): Promise<boolean[]> {
  const isNumeric = Array.from({ length: columnCount }, (_, index) => {
    const id = columnId(index);
    return `count(${id}) > 0 AND count(${id}) = count(${textNumberSql(id)})`;
  });
  const [row] = await queryRows(csv.database, `SELECT ${isNumeric.join(", ")} FROM ${rows}`);
  return isNumeric.map((_, index) => row?.[index] === true);
}

/**
 * Loads all rows; gives the columns of numbers. Those in which a cell is not a number are read again as text; the rule for
 * all formats, in `column_roles.ts`, then decides if that is an error.
 */
async function loadRows(csv: CsvFile, guess: readonly boolean[]): Promise<readonly boolean[]> {
  const { connection } = csv.database;
  const rows = readCsvSql(csv, guess.length, false);
  const cells = guess.map((isNumber, index) => ({ id: columnId(index), isNumber }));
  const numbers = cells.filter(({ isNumber }) => isNumber);
  const parsed = numbers.map(({ id }) => `, ${textNumberSql(id)} AS n${id}`).join("");
  const values = cells.map(({ id, isNumber }) => (isNumber ? `n${id} AS ${id}` : id)).join(", ");
  const misfit = numbers.map(({ id }) => `(${id} IS NOT NULL AND n${id} IS NULL)`).join(" OR ") || "false";
  const sql = `CREATE OR REPLACE TEMP TABLE raw AS
    SELECT ${values}, ${misfit} AS misfit FROM (SELECT *${parsed} FROM ${rows})`;
  await parsingLines(csv, () => connection.run(sql));
  const [row] = await queryRows(csv.database, "SELECT bool_or(misfit) FROM raw");
  if (row?.[0] !== true) return guess;
  const numeric = await parsingLines(csv, () => numericColumns(csv, guess.length, rows));
  return await loadRows(
    csv,
    guess.map((isNumber, index) => isNumber && numeric[index]!),
  );
}

/** As `parsing`, but names the line of a fault. @throws DataError E305, E303. */
async function parsingLines<T>(csv: CsvFile, work: () => Promise<T>): Promise<T> {
  return await parsing(csv.file, csv.format, async () => {
    try {
      return await work();
    } catch (error) {
      throw (await lineError(csv, error)) ?? error;
    }
  });
}

/**
 * The error for the line that cannot be read; null where none is known. Reads faults from DuckDB's messages, because its
 * table of rejected rows repeats a line for each of its cells; it does not name a line whose end differs.
 */
async function lineError(csv: CsvFile, error: unknown): Promise<Error | null> {
  const { file, path, dialect } = csv;
  const message = error instanceof Error ? error.message : "";
  const line = /CSV Error on Line: (\d+)/.exec(message)?.[1];
  if (line !== undefined) {
    const { reason, remedy } = describeFault(message);
    const other = reason === NOT_UTF8 ? await findOtherEncoding(path, dialect) : null;
    return other === null
      ? malformedRow(file, Number(line), reason, remedy)
      : notUtf8(file, other.line, other.encoding);
  }
  const other = await findOtherLineEnd(path, dialect).catch(() => null);
  if (!other) return null;
  const reason = `ends in ${other.end}, the lines before it in ${other.usual}`;
  return malformedRow(file, other.line, reason, "end all lines in one way, e.g. with dos2unix or mac2unix");
}

/** The words of DuckDB for a fault, and the reason and remedy of our message. */
interface FaultWords {
  readonly words: RegExp;
  readonly reason: (found: RegExpExecArray) => string;
  readonly remedy?: string;
}

const NOT_UTF8 = "is not valid UTF-8";

const FAULTS: readonly FaultWords[] = [
  {
    words: /Expected Number of Columns: (\d+) Found: (\d+)/g,
    reason: ([, expected, found]) => `has ${counted(Number(found), "cell")}, the header has ${expected}`,
  },
  {
    words: /Value with unterminated quote found/g,
    reason: () => "has a quoted cell that goes on behind its closing quote or never ends",
  },
  { words: /Invalid unicode/g, reason: () => NOT_UTF8, remedy: "save the file as UTF-8" },
  {
    words: /Maximum line size of (\d+) bytes exceeded/g,
    reason: ([, most]) => `is longer than ${most} bytes`,
  },
];

/** Takes the last match, because a message begins with the line itself, which may contain such words. */
function describeFault(message: string): { readonly reason: string; readonly remedy?: string | undefined } {
  const found = FAULTS.flatMap((fault) => {
    const last = [...message.matchAll(fault.words)].at(-1);
    return last ? [{ last, fault }] : [];
  }).sort((a, b) => b.last.index - a.last.index)[0];
  if (!found) return { reason: "cannot be read" };
  return { reason: found.fault.reason(found.last), remedy: found.fault.remedy };
}

/** All columns as text. */
function readCsvSql(csv: CsvFile, columnCount: number, ignoresErrors: boolean): string {
  const lineEnd = csv.dialect.lineEnd === CARRIAGE_RETURN ? ", new_line = '\\r'" : "";
  const columns = Array.from({ length: columnCount }, (_, index) => `${columnId(index)}: 'VARCHAR'`);
  return `read_csv(${sqlInputPath(csv.path)}, auto_detect = false, header = true, columns = {${columns.join(", ")}},
    delim = '${csv.dialect.delimiter}', quote = '"', escape = '"', comment = '', nullstr = '', hive_partitioning = false,
    compression = '${csv.dialect.gzipped ? "gzip" : "none"}', ignore_errors = ${ignoresErrors}${lineEnd})`;
}
