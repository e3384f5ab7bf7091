/**
 * Decides which columns beside the keys become fields and which groups. For text its content decides, in all formats: only
 * numbers (or only true/false) are a field, mostly numbers are a field with text in it (an error), anything else is a
 * group; a column of text whose cells are all empty is a field and a group. So a CSV, a Parquet and an Arrow file with
 * the same cells give the same panel.
 */
import { queryRows } from "../duckdb/database.ts";
import type { TextColumn } from "../duckdb/labels.ts";
import { firstRowWhere, type InputColumn, type Relation } from "../duckdb/relation.ts";
import { quoted, textAmongNumbers } from "../errors.ts";

/** A field and its DOUBLE expression over `raw`, NULL for null. */
export interface FieldRole {
  readonly name: string;
  readonly sql: string;
}

export interface GroupRole extends TextColumn {
  readonly name: string;
}

export interface ColumnRoles {
  readonly fields: readonly FieldRole[];
  readonly groups: readonly GroupRole[];
  /** By name, why a column that holds numbers is a group, for messages. */
  readonly groupReasons: ReadonlyMap<string, string>;
}

/**
 * Splits the columns into fields and groups.
 *
 * @throws DataError E317 for text in a column of numbers.
 */
export async function assignRoles(relation: Relation): Promise<ColumnRoles> {
  const others = columnsBesideKeys(relation);
  const texts = await rolesOfTexts(
    relation,
    others.filter(({ kind }) => kind === "text"),
  );
  const fields: FieldRole[] = [];
  const groups: GroupRole[] = [];
  const groupReasons = new Map<string, string>();
  for (const column of others) {
    const { name } = column;
    if (column.kind === "number") fields.push({ name, sql: numberSql(column) });
    const { fieldSql = null, isGroup = false, hasNumbers = false } = texts.get(column.id) ?? {};
    if (fieldSql !== null) fields.push({ name, sql: fieldSql });
    if (isGroup) groups.push(groupRole(column));
    if (!isGroup || !hasNumbers) continue;
    const { shown, place } = await firstText(relation, column);
    groupReasons.set(name, `${quoted(shown)} in ${place} is no number: leave such cells empty`);
  }
  return { fields, groups, groupReasons };
}

/** The roles that columns may have, without reading their cells: text may be a field of numbers or true/false, and a group. */
export function possibleRoles(relation: Relation): ColumnRoles {
  const others = columnsBesideKeys(relation);
  const texts = others.filter(({ kind }) => kind === "text");
  const numbers = others.filter(({ kind }) => kind === "number");
  const textFields = texts.map((column) => {
    const text = labelSql(column);
    const sql = `CASE WHEN ${isBooleanSql(text)} THEN ${booleanSql(text)} ELSE CAST(${text} AS DOUBLE) END`;
    return { name: column.name, sql };
  });
  const numberFields = numbers.map((column) => ({ name: column.name, sql: numberSql(column) }));
  const fields = [...numberFields, ...textFields];
  return { fields, groups: texts.map(groupRole), groupReasons: new Map() };
}

/** DOUBLE expression of a text, NULL if it is not a number; DuckDB alone would read 20_5 as 205. */
export function textNumberSql(text: string): string {
  return `(CASE WHEN NOT contains(${text}, '_') THEN TRY_CAST(${text} AS DOUBLE) END)`;
}

function columnsBesideKeys({ columns, keys }: Relation): readonly InputColumn[] {
  return columns.filter((_, index) => index !== keys.time && index !== keys.symbol);
}

function groupRole(column: InputColumn): GroupRole {
  return { name: column.name, sql: labelSql(column), dictionary: column.dictionary };
}

function booleanSql(text: string): string {
  return `CAST(CAST(${text} AS BOOLEAN) AS DOUBLE)`;
}

/** DuckDB rounds a decimal of more than 15 digits twice on its way to a double, its text only once. */
function numberSql({ id, typeName }: InputColumn): string {
  const digits = Number(/^DECIMAL\((\d+)/i.exec(typeName)?.[1] ?? 0);
  return digits > 15 ? `CAST(CAST(${id} AS VARCHAR) AS DOUBLE)` : `CAST(${id} AS DOUBLE)`;
}

/** Text of a cell, NULL when empty. */
function labelSql(column: InputColumn): string {
  return `nullif(CAST(${column.id} AS VARCHAR), '')`;
}

/** What a column of text is: a field of that SQL, a group, or both. */
interface TextRole {
  readonly fieldSql: string | null;
  readonly isGroup: boolean;
  /** Whether some cells are numbers. */
  readonly hasNumbers: boolean;
}

/** The roles of columns of text by their ids. */
async function rolesOfTexts(
  relation: Relation,
  columns: readonly InputColumn[],
): Promise<ReadonlyMap<string, TextRole>> {
  if (columns.length === 0) return new Map();
  const counts = columns.flatMap((column) => {
    const text = labelSql(column);
    return [
      `CAST(count(${text}) AS DOUBLE)`,
      `CAST(count(${textNumberSql(text)}) AS DOUBLE)`,
      `CAST(count(*) FILTER (${isBooleanSql(text)}) AS DOUBLE)`,
    ];
  });
  const [row] = await queryRows(relation.database, `SELECT ${counts.join(", ")} FROM raw`);
  const roles = new Map<string, TextRole>();
  for (const [index, column] of columns.entries()) {
    const [valueCount, numberCount, booleanCount] = (row ?? []).slice(index * 3).map(Number);
    const fieldSql = await fieldOfText(relation, column, valueCount!, numberCount!, booleanCount!);
    const isGroup = fieldSql === null || valueCount === 0;
    roles.set(column.id, { fieldSql, isGroup, hasNumbers: numberCount! > 0 });
  }
  return roles;
}

/** The SQL of a field; null for a group. @throws DataError E317 for text in a column of numbers. */
async function fieldOfText(
  relation: Relation,
  column: InputColumn,
  valueCount: number,
  numberCount: number,
  booleanCount: number,
): Promise<string | null> {
  const text = labelSql(column);
  if (numberCount === valueCount) return `CAST(${text} AS DOUBLE)`;
  if (booleanCount === valueCount) return booleanSql(text);
  if (numberCount * 2 <= valueCount) return null;
  const { place, shown } = await firstText(relation, column);
  throw textAmongNumbers(relation.file, column.name, shown, place);
}

/** The first cell that is not a number. */
async function firstText(relation: Relation, column: InputColumn): Promise<{ place: string; shown: string }> {
  const text = labelSql(column);
  return await firstRowWhere(relation, `${text} IS NOT NULL AND ${textNumberSql(text)} IS NULL`, text);
}

function isBooleanSql(text: string): string {
  return `lower(${text}) IN ('true', 'false')`;
}
