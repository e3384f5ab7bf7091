/** The common form of all formats: a relation in DuckDB with plain column ids, and descriptions of its columns. */
import { type DataError, FactorloomError } from "../../errors.ts";
import type { TimeType } from "../../panel.ts";
import { reasonOf } from "../../text/reason.ts";
import { emptyKey, inputTooLarge, notParsable, symbolNotWhole, type TimeCut } from "../errors.ts";
import { type Database, queryRows } from "./database.ts";

/** One column of an input table. */
export interface InputColumn {
  /** Name in the file. */
  readonly name: string;
  /** Identifier in the relation: `c0`, `c1`, ..., so that users' names never get into SQL. */
  readonly id: string;
  /** `ignored`: dates beside the time column, nested columns, columns without a name. */
  readonly kind: "number" | "text" | "ignored";
  /** Type as its format calls it, for messages. */
  readonly typeName: string;
  /** How to read it as the time column; null for text. */
  readonly time: TimeRole | null;
  /** For text that the file stores as codes: the INTEGER expression of the code, and the distinct labels. */
  readonly dictionary?: ColumnDictionary;
}

export interface TimeRole {
  readonly type: TimeType;
  readonly cut?: TimeCut | undefined;
  /** BIGINT expression of the time. */
  readonly sql: string;
  /**
   * A condition on the column itself, with which DuckDB can skip parts of a file by their statistics. It is true for all rows
   * of the times `first` to `last`, and perhaps for others.
   */
  readonly around: (first: bigint, last: bigint) => string;
}

export interface ColumnDictionary {
  readonly codeSql: string;
  readonly labels: readonly string[];
}

/** Positions of the key columns; a group table has no time, a table of series no symbol. */
export interface KeyColumns {
  readonly time: number | null;
  readonly symbol: number | null;
}

/** A user's table, ready to be queried as `raw` in the database. */
export interface Relation {
  readonly database: Database;
  readonly file: string;
  /** Name of its format, for messages. */
  readonly format: string;
  readonly columns: readonly InputColumn[];
  readonly keys: KeyColumns;
  /** A query for the rows of `raw` of these times, and perhaps others, if it reads less than `raw`. */
  readonly partSql?: (first: bigint, last: bigint) => string;
  /** Describes the place of a data row (1-based); null if its number is enough. */
  readonly describeRow: ((rowNumber: number) => Promise<string>) | null;
}

/** Finds the key columns among the names of a file's columns. @throws DataError if one is missing. */
export type KeyFinder = (names: readonly string[]) => KeyColumns;

/** Runs work on the bytes of a file; an error of a parser becomes the DataError that the file is not of that format. */
export async function parsing<T>(file: string, format: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FactorloomError ? error : parserError(file, format, error);
  }
}

/** Runs queries on a relation: DuckDB reads Parquet while it answers. Its errors are plain ones, our bugs are not. */
export async function querying<T>(relation: Relation, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw queryError(relation, error);
  }
}

/** The error of a query on a relation. */
export function queryError({ file, format }: Relation, error: unknown): unknown {
  return isPlainError(error) ? parserError(file, format, error) : error;
}

/** Errors of DuckDB have no class of their own. */
export function isPlainError(error: unknown): boolean {
  return error instanceof Error && Object.getPrototypeOf(error) === Error.prototype;
}

function parserError(file: string, format: string, error: unknown): Error {
  const reason = reasonOf(error);
  // DuckDB has neither memory nor disk left.
  const isShortage =
    error instanceof Error && /^Out of Memory Error|No space left on device/.test(error.message);
  return isShortage ? inputTooLarge(file, reason, error) : notParsable(file, format, reason, error);
}

export function columnId(index: number): string {
  return `c${index}`;
}

/** Whole numbers of any width up to 64 bits, in the words of Parquet and of Arrow. */
const INTEGER_TYPE = /^U?(TINY|SMALL|BIG)?INT(EGER)?\d*$/i;
/** Below it, whole numbers are exact as doubles; this one may be the next number, rounded. */
const WHOLE_DOUBLE_END = 2 ** 53;

/**
 * Symbol as text, NULL when missing: text unchanged, a whole number without decimals (10107, not 10107.0). Numbers of other
 * types than integers are NULL if they are not whole or not exact.
 */
export function symbolSql(column: InputColumn): string {
  const text = `CAST(${column.id} AS VARCHAR)`;
  if (column.kind === "text") return `nullif(${text}, '')`;
  if (INTEGER_TYPE.test(column.typeName)) return text;
  const value = `CAST(${column.id} AS DOUBLE)`;
  return `CASE WHEN ${isWholeSql(column)} THEN CAST(CAST(${value} AS BIGINT) AS VARCHAR) END`;
}

/** Condition: the number is whole and held exactly. */
export function isWholeSql(column: InputColumn): string {
  if (INTEGER_TYPE.test(column.typeName)) return "true";
  const value = `CAST(${column.id} AS DOUBLE)`;
  return `(abs(${value}) < ${WHOLE_DOUBLE_END} AND ${value} = trunc(${value}))`;
}

/** The error for the first row without a symbol. */
export async function missingSymbol(relation: Relation, symbol: InputColumn): Promise<DataError> {
  const shownSql = `coalesce(CAST(${symbol.id} AS VARCHAR), '')`;
  const { place, shown } = await firstRowWhere(relation, `(${symbolSql(symbol)}) IS NULL`, shownSql);
  const isEmpty = shown === "" || shown === "nan";
  return isEmpty
    ? emptyKey(relation.file, "symbol", symbol.name, place)
    : symbolNotWhole(relation.file, symbol.name, shown, place);
}

/**
 * First data row (1-based) that fulfils the condition, with the given expression's value as text. DuckDB numbers rows in the
 * order of the file, and reads no further than the first one that is found.
 */
export async function firstRowWhere(
  relation: Relation,
  condition: string,
  shownSql: string,
): Promise<{ place: string; shown: string }> {
  const [row] = await queryRows(
    relation.database,
    `SELECT CAST(rowNumber AS DOUBLE), CAST(${shownSql} AS VARCHAR)
     FROM (SELECT row_number() OVER () AS rowNumber, * FROM raw)
     WHERE ${condition} LIMIT 1`,
  );
  if (row === undefined) throw changedMeanwhile(relation);
  return { place: await placeOf(relation, Number(row[0])), shown: String(row[1]) };
}

/** The place of a data row in words: `row 17`, for CSV `row 17 (line 18)`, in a folder `row 17 of part-2.parquet`. */
export async function placeOf(relation: Relation, rowNumber: number): Promise<string> {
  return (await relation.describeRow?.(rowNumber)) ?? `row ${rowNumber}`;
}

/** The error for a file that has changed since it was opened. */
export function changedMeanwhile({ file, format }: Pick<Relation, "file" | "format">): DataError {
  return notParsable(file, format, "it changes while it is read", null);
}
