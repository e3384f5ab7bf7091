/**
 * Opens CSV as a relation, with a fixed dialect and explicit types. DuckDB's guesses would read 10/02/2013 as October or as
 * February depending on the sample, and drop the zeros of the symbol 000001. Cells are read as text or as DOUBLE; times
 * are text until `createTimes` has seen all of them.
 */

import { DataError, InternalError } from "../../errors.ts";
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
  findLineOfRow,
  findOtherEncoding,
  findOtherLineEnd,
  hasJoinedDigits,
  readCsvHeader,
} from "./csv_text.ts";
import type { InputFiles } from "./input_files.ts";

/** Rows from which the types of columns are guessed; a wrong guess costs a second pass, never a wrong value. */
const HEAD_ROWS = 2048;

type CellType = "VARCHAR" | "DOUBLE";

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
  const types = await parsingLines(csv, () => guessTypes(csv, names.length, keys));
  const [joined, load] = await Promise.allSettled([
    parsing(file, format, () => hasJoinedDigits(path, dialect)),
    loadRows(csv, types),
  ]);
  if (joined.status === "rejected") throw joined.reason;
  if (load.status === "rejected") throw load.reason;
  if (joined.value && types.includes("DOUBLE")) await loadAgain(csv, types);
  return {
    database,
    file,
    format,
    keys,
    columns: names.map((name, index) => describeColumn(name, index, types[index] ?? "VARCHAR")),
    describeRow: async (rowNumber) =>
      `row ${rowNumber} (line ${await findLineOfRow(path, dialect, rowNumber)})`,
  };
}

function describeColumn(name: string, index: number, type: CellType): InputColumn {
  const kind = name === "" ? "ignored" : type === "DOUBLE" ? "number" : "text";
  return { name, id: columnId(index), kind, typeName: type, time: null };
}

/** All columns of group tables are text, so that the code 0010 keeps its zeros. */
async function guessTypes(csv: CsvFile, columnCount: number, keys: KeyColumns): Promise<CellType[]> {
  const types = new Array<CellType>(columnCount).fill("VARCHAR");
  if (keys.time === null) return types;
  const head = `(SELECT * FROM ${readCsvSql(csv, types, true)} LIMIT ${HEAD_ROWS})`;
  const isNumeric = await numericColumns(csv, columnCount, head);
  return types.map((type, index) => {
    const isKey = index === keys.time || index === keys.symbol;
    return isNumeric[index] && !isKey ? "DOUBLE" : type;
  });
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
 * Loads all rows. Columns of numbers in which a cell is not a number are read again as text (changes `types`); the rule for
 * all formats, in `column_roles.ts`, then decides if that is an error.
 */
async function loadRows(csv: CsvFile, types: CellType[]): Promise<void> {
  if (!(await loadTable(csv, types))) await loadAgain(csv, types);
}

/** Loads all rows again, with types that fit all cells. */
async function loadAgain(csv: CsvFile, types: CellType[]): Promise<void> {
  const text = readCsvSql(csv, new Array<CellType>(types.length).fill("VARCHAR"), false);
  const isNumeric = await readingLines(csv, () => numericColumns(csv, types.length, text));
  for (let index = 0; index < types.length; index++) if (!isNumeric?.[index]) types[index] = "VARCHAR";
  if (!(await loadTable(csv, types)))
    throw new InternalError(`${csv.file}: numbers are not numbers when they are read again`);
}

/** False if a cell of a column of numbers is not a number. */
async function loadTable(csv: CsvFile, types: readonly CellType[]): Promise<boolean> {
  const sql = `CREATE OR REPLACE TEMP TABLE raw AS FROM ${readCsvSql(csv, types, false)}`;
  return (await readingLines(csv, () => csv.database.connection.run(sql))) !== null;
}

/**
 * Runs a query over all lines; null if a cell of a column of numbers is not a number. Reads faults from DuckDB's messages,
 * because its table of rejected rows repeats a line for each of its cells.
 *
 * @throws DataError E305 for a line that cannot be read.
 */
async function readingLines<T>(csv: CsvFile, work: () => Promise<T>): Promise<T | null> {
  return await parsingLines(csv, async () => {
    try {
      return await work();
    } catch (error) {
      const fault = error instanceof Error ? /^(.*): CSV Error on Line: (\d+)/.exec(error.message) : null;
      if (fault === null) throw error;
      if (fault[1] === "Conversion Error") return null;
      const { reason, remedy } = describeFault((error as Error).message);
      const other = reason === NOT_UTF8 ? await findOtherEncoding(csv.path, csv.dialect) : null;
      if (other !== null) throw notUtf8(csv.file, other.line, other.encoding);
      throw malformedRow(csv.file, Number(fault[2]), reason, remedy);
    }
  });
}

/** As `parsing`, but names the line where line ends differ, which DuckDB does not. @throws DataError E305, E303. */
async function parsingLines<T>(csv: CsvFile, work: () => Promise<T>): Promise<T> {
  return await parsing(csv.file, csv.format, async () => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof DataError) throw error;
      const other = await findOtherLineEnd(csv.path, csv.dialect).catch(() => null);
      if (!other) throw error;
      const reason = `ends in ${other.end}, the lines before it in ${other.usual}`;
      throw malformedRow(
        csv.file,
        other.line,
        reason,
        "end all lines in one way, e.g. with dos2unix or mac2unix",
      );
    }
  });
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

function readCsvSql(csv: CsvFile, types: readonly CellType[], ignoresErrors: boolean): string {
  const lineEnd = csv.dialect.lineEnd === CARRIAGE_RETURN ? ", new_line = '\\r'" : "";
  const columns = types.map((type, index) => `${columnId(index)}: '${type}'`);
  return `read_csv(${sqlInputPath(csv.path)}, auto_detect = false, header = true, columns = {${columns.join(", ")}},
    delim = '${csv.dialect.delimiter}', quote = '"', escape = '"', comment = '', nullstr = '', hive_partitioning = false,
    compression = '${csv.dialect.gzipped ? "gzip" : "none"}', ignore_errors = ${ignoresErrors}${lineEnd})`;
}
