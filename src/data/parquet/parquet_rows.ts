import { type Database, queryRows, sqlInputPath } from "../duckdb/database.ts";

/** Rows of a Parquet file by its footer; null if it is not Parquet. */
export async function parquetRowCount(database: Database, path: string): Promise<number | null> {
  const query = `SELECT CAST(num_rows AS DOUBLE) FROM parquet_file_metadata(${sqlInputPath(path)})`;
  const [row] = await queryRows(database, query).catch(() => []);
  return row === undefined ? null : Number(row[0]);
}
