/**
 * Parquet has no seconds, no names of time zones and no metadata of columns. Like pyarrow, files therefore also have the
 * Arrow schema, under the key `ARROW:schema`: an IPC schema message in base64.
 */
import { type DataType, MessageReader, type Schema } from "apache-arrow";
import { type Database, queryRows, sqlInputPaths } from "../duckdb/database.ts";
import { encodeSchemaMessage } from "./arrow_file.ts";

export const ARROW_SCHEMA_KEY = "ARROW:schema";

/** Arrow's types by column name, for each Parquet file with a readable Arrow schema. */
export async function readStoredTypes(
  database: Database,
  paths: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, DataType>>> {
  const rows = await queryRows(
    database,
    `SELECT file_name, decode(value) FROM parquet_kv_metadata(${sqlInputPaths(paths)})
     WHERE decode(key) = '${ARROW_SCHEMA_KEY}'`,
  );
  return new Map(rows.map(([path, text]) => [String(path), typesOf(String(text))]));
}

function typesOf(schemaText: string): ReadonlyMap<string, DataType> {
  return new Map((decodeSchema(schemaText)?.fields ?? []).map(({ name, type }) => [name, type]));
}

/** Undefined if the schema has types that this version of Arrow does not know; Parquet's own types are used then. */
function decodeSchema(base64: string): Schema | null {
  try {
    return new MessageReader(Buffer.from(base64, "base64")).readSchema() ?? null;
  } catch {
    return null;
  }
}

/** The schema as text for `ARROW:schema`. */
export function encodeSchema(schema: Schema): string {
  return Buffer.from(encodeSchemaMessage(schema)).toString("base64");
}
