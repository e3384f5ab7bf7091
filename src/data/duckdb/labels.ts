/** Distinct texts of a relation, numbered in the order of the panel: by UTF-16 code units. */
import { type Database, queryRows, sqlText } from "./database.ts";
import type { ColumnDictionary } from "./relation.ts";

export interface Labels {
  /** Distinct texts in code-unit order. */
  readonly sorted: readonly string[];
  /** INTEGER expression over `raw`: a code per row, NULL for a missing text. */
  readonly codeSql: string;
  /** Position in `sorted` of each code, -1 for the code of a missing text; null if codes are positions. */
  readonly positionOfCode: Int32Array | null;
  readonly hasNull: boolean;
}

/** Texts per row of `raw`: an expression, NULL for a missing text, and the codes of a dictionary if there is one. */
export interface TextColumn {
  readonly sql: string;
  readonly dictionary?: ColumnDictionary | undefined;
}

/**
 * Numbers the distinct texts of a column, in all rows or in those of `input` (the text after FROM); creates or replaces the
 * ENUM type `name`.
 */
export function createLabels(
  database: Database,
  name: string,
  column: TextColumn,
  input = "raw",
): Promise<Labels> {
  const { sql, dictionary } = column;
  return dictionary === undefined
    ? labelTexts(database, name, sql, input)
    : labelCodes(database, dictionary, input);
}

/** Labels of a column whose texts are known, in code-unit order, without reading it; other texts count as missing. */
export async function createKnownLabels(
  database: Database,
  name: string,
  { sql, dictionary }: TextColumn,
  sorted: readonly string[],
): Promise<Labels> {
  if (dictionary !== undefined) {
    const positions = new Map(sorted.map((label, position) => [label, position]));
    const positionOfCode = Int32Array.from(dictionary.labels, (label) => positions.get(label) ?? -1);
    return { sorted, codeSql: dictionary.codeSql, positionOfCode, hasNull: true };
  }
  await database.connection.run(`CREATE TYPE ${name} AS ENUM (${sorted.map(sqlText).join(", ")})`);
  const codeSql = `CAST(enum_code(TRY_CAST(${sql} AS ${name})) AS INTEGER)`;
  return { sorted, codeSql, positionOfCode: null, hasNull: true };
}

/** DuckDB orders an ENUM made by ORDER BY by UTF-8, which differs from code units for characters beyond U+FFFF. */
async function labelTexts(database: Database, name: string, sql: string, input: string): Promise<Labels> {
  const { connection } = database;
  await connection.run(`DROP TYPE IF EXISTS ${name}`);
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE ${name}Texts AS SELECT DISTINCT ${sql} AS label FROM ${input}`,
  );
  const rows = await queryRows(database, `SELECT label FROM ${name}Texts ORDER BY label NULLS LAST`);
  const labels = rows.flatMap(([label]) => (label === null ? [] : [String(label)]));
  await connection.run(
    `CREATE TYPE ${name} AS ENUM (SELECT label FROM ${name}Texts WHERE label IS NOT NULL ORDER BY label)`,
  );
  const codeSql = `CAST(enum_code(CAST(${sql} AS ${name})) AS INTEGER)`;
  return { ...sortLabels(labels), codeSql, hasNull: labels.length < rows.length };
}

async function labelCodes(
  database: Database,
  { codeSql, labels }: ColumnDictionary,
  input: string,
): Promise<Labels> {
  const rows = await queryRows(database, `SELECT DISTINCT ${codeSql} FROM ${input}`);
  const isUsed = new Uint8Array(labels.length);
  let hasNull = false;
  for (const [code] of rows) {
    if (code === null || labels[Number(code)] === "") hasNull = true;
    else isUsed[Number(code)] = 1;
  }
  const used = labels.map((label, code) => (isUsed[code] === 1 ? label : null));
  return { ...sortLabels(used), codeSql, hasNull };
}

function sortLabels(labels: readonly (string | null)[]): Pick<Labels, "sorted" | "positionOfCode"> {
  const entries = labels.flatMap((label, code) => (label === null ? [] : [{ label, code }]));
  entries.sort((a, b) => (a.label < b.label ? -1 : 1));
  const positionOfCode = new Int32Array(labels.length).fill(-1);
  for (const [position, { code }] of entries.entries()) positionOfCode[code] = position;
  const isIdentity = positionOfCode.every((position, code) => position === code);
  return { sorted: entries.map(({ label }) => label), positionOfCode: isIdentity ? null : positionOfCode };
}
