/**
 * Parquet has no seconds and no names of time zones, and no place for metadata of columns. Like pyarrow we keep the
 * Arrow schema beside the data, under the key `ARROW:schema`: an IPC schema message in base64.
 */
import { type DataType, MessageReader, type Schema } from "apache-arrow";
import { type Database, queryRows, sqlInputPaths } from "../duckdb/database.ts";
import { encodeSchemaMessage } from "./arrow_file.ts";

export const ARROW_SCHEMA_KEY = "ARROW:schema";

/** Arrow's types by column name, for each Parquet file that has an Arrow schema which we can read. */
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

/** Other writers may store types that this version of Arrow does not know; then Parquet's own types have to do. */
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
