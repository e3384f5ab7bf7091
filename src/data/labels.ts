/** Distinct texts of a relation, numbered in the order that the panel wants: by UTF-16 code units. */
import { type Database, queryRows } from "./database.ts";

export interface Labels {
  /** Distinct texts in code-unit order. */
  readonly sorted: readonly string[];
  /** Position in `sorted` of each id of the label table. */
  readonly codeOfId: Int32Array;
  readonly hasNull: boolean;
}

/**
 * Creates the table `table(label, id)` of the distinct values of an expression over `raw`. DuckDB sorts text by
 * UTF-8, which differs from code-unit order for characters beyond U+FFFF, so that the sorting is done here.
 */
export async function createLabels(database: Database, table: string, sql: string): Promise<Labels> {
  await database.connection.run(
    `CREATE TEMP TABLE ${table} AS
     SELECT label, row_number() OVER () - 1 AS id FROM (SELECT DISTINCT ${sql} AS label FROM raw)`,
  );
  const rows = await queryRows(database, `SELECT label, CAST(id AS DOUBLE) FROM ${table}`);
  const entries = rows.flatMap(([label, id]) =>
    label === null ? [] : [{ label: String(label), id: Number(id) }],
  );
  entries.sort((a, b) => (a.label < b.label ? -1 : 1));
  const codeOfId = new Int32Array(rows.length).fill(-1);
  for (const [code, { id }] of entries.entries()) codeOfId[id] = code;
  return { sorted: entries.map(({ label }) => label), codeOfId, hasNull: entries.length < rows.length };
}
