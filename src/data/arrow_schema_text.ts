/**
 * Parquet has no seconds and no names of time zones, and no place for metadata of columns. Like pyarrow we keep the
 * Arrow schema beside the data, under the key `ARROW:schema`: an IPC schema message in base64.
 */
import { MessageReader, type Schema } from "apache-arrow";
import type { TimeType } from "../panel.ts";
import { encodeSchemaMessage } from "./arrow_file.ts";
import { timeTypeOf } from "./arrow_time.ts";
import { type Database, queryRows, sqlInputPaths } from "./database.ts";

export const ARROW_SCHEMA_KEY = "ARROW:schema";

/** Time types by column name, for each Parquet file that has an Arrow schema which we can read. */
export async function readStoredTimeTypes(
  database: Database,
  paths: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, TimeType>>> {
  const rows = await queryRows(
    database,
    `SELECT file_name, decode(value) FROM parquet_kv_metadata(${sqlInputPaths(paths)})
     WHERE decode(key) = '${ARROW_SCHEMA_KEY}'`,
  );
  return new Map(rows.map(([path, text]) => [String(path), timeTypesOf(String(text))]));
}

function timeTypesOf(schemaText: string): ReadonlyMap<string, TimeType> {
  const entries = (decodeSchema(schemaText)?.fields ?? []).flatMap((field): [string, TimeType][] => {
    const type = timeTypeOf(field.type);
    return type === null ? [] : [[field.name, type]];
  });
  return new Map(entries);
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
