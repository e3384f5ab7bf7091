/**
 * CSV into a relation. We fix the dialect and the types ourselves instead of letting DuckDB guess them: its guess
 * reads 10/02/2013 as October or as February depending on the sample, and drops the zeros of the symbol 000001.
 * Cells are read as text or as DOUBLE; times stay text until `createTimes` has looked at all of them.
 */

import { type CsvDialect, checkGzip, findLineOfRow, readCsvHeader } from "./csv_text.ts";
import { type Database, queryRows, sqlInputPath } from "./database.ts";
import { malformedRow } from "./errors.ts";
import type { InputFiles } from "./input_files.ts";
import {
  columnId,
  type InputColumn,
  type KeyColumns,
  type KeyFinder,
  parsing,
  type Relation,
} from "./relation.ts";

/** Rows looked at to tell numeric columns from text; a wrong guess costs a second pass, never a wrong value. */
const HEAD_ROWS = 2048;
/** Faulty cells recorded per pass: one names the column to read as text. */
const REJECTS_MAX = 1000;

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
  const dialect = {
    delimiter: /\.tsv(\.gz)?$/i.test(path) ? "\t" : ",",
    gzipped: /\.gz$/i.test(path),
  };
  const format = dialect.gzipped ? "gzipped CSV" : "CSV";
  const csv = { database, file, format, path, dialect };
  const names = await parsing(file, format, () => readCsvHeader(path, dialect));
  const keys = findKeys(names);
  const types = await parsing(file, format, () => guessTypes(csv, names.length, keys));
  const [check, load] = await Promise.allSettled([
    dialect.gzipped ? parsing(file, format, () => checkGzip(path)) : null,
    loadRows(csv, types),
  ]);
  for (const outcome of [check, load]) if (outcome.status === "rejected") throw outcome.reason;
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

/** Group tables are read as text throughout, so that the code 0010 keeps its zeros. */
async function guessTypes(csv: CsvFile, columnCount: number, keys: KeyColumns): Promise<CellType[]> {
  const types = new Array<CellType>(columnCount).fill("VARCHAR");
  if (keys.time === null) return types;
  const isNumeric = types.map((_, index) => {
    const id = columnId(index);
    return `count(${id}) > 0 AND count(${id}) = count(TRY_CAST(${id} AS DOUBLE))`;
  });
  const head = `SELECT * FROM ${readCsvSql(csv, types, "ignore_errors = true")} LIMIT ${HEAD_ROWS}`;
  const [row] = await queryRows(csv.database, `SELECT ${isNumeric.join(", ")} FROM (${head})`);
  return types.map((type, index) => {
    const isKey = index === keys.time || index === keys.symbol;
    return row?.[index] === true && !isKey ? "DOUBLE" : type;
  });
}

/**
 * Loads all rows. A column in which some cell is no number is read again as text (changes `types`); whether that is
 * an error or a text column is decided there by the one rule for all formats (see `column_roles.ts`).
 */
async function loadRows(csv: CsvFile, types: CellType[]): Promise<void> {
  for (;;) {
    const table = readCsvSql(csv, types, `store_rejects = true, rejects_limit = ${REJECTS_MAX}`);
    await parsing(csv.file, csv.format, () =>
      csv.database.connection.run(`CREATE OR REPLACE TEMP TABLE raw AS FROM ${table}`),
    );
    const rejects = await queryRows(
      csv.database,
      `SELECT CAST(line AS DOUBLE), CAST(error_type AS VARCHAR), column_idx - 1, error_message
       FROM reject_errors ORDER BY error_type = 'CAST', line`,
    );
    if (rejects.length === 0) return;
    await csv.database.connection.run("DROP TABLE reject_errors; DROP TABLE reject_scans");
    for (const [line, kind, index, message] of rejects) {
      if (kind !== "CAST")
        throw malformedRow(csv.file, Number(line), describeReject(String(kind), String(message)));
      types[Number(index)] = "VARCHAR";
    }
  }
}

function readCsvSql(csv: CsvFile, types: readonly CellType[], options: string): string {
  const columns = types.map((type, index) => `${columnId(index)}: '${type}'`);
  return `read_csv(${sqlInputPath(csv.path)}, auto_detect = false, header = true, columns = {${columns.join(", ")}},
    delim = '${csv.dialect.delimiter}', quote = '"', escape = '"', comment = '', nullstr = '', hive_partitioning = false,
    compression = '${csv.dialect.gzipped ? "gzip" : "none"}', ${options})`;
}

function describeReject(kind: string, message: string): string {
  const counts = /Columns: (\d+) Found: (\d+)/.exec(message);
  if (counts !== null) return `has ${counts[2]} cells, the header has ${counts[1]}`;
  if (kind === "UNQUOTED VALUE")
    return "has a quoted cell that goes on behind its closing quote or never ends";
  if (kind === "INVALID ENCODING") return "is not valid UTF-8";
  return `cannot be read (${message.split("\n", 1)[0]})`;
}
