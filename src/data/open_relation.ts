/** Opens a table of the user's in the format that its extension names. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { openArrow } from "./arrow_source.ts";
import { openCsv } from "./csv_source.ts";
import { type Database, queryRows, reasonOf } from "./database.ts";
import { extensionUnknown, fileMissing, fileUnreadable, noRows } from "./errors.ts";
import { openParquet } from "./parquet_source.ts";
import type { KeyFinder, Relation } from "./relation.ts";

type Opener = (database: Database, file: string, path: string, findKeys: KeyFinder) => Promise<Relation>;

const OPENERS: readonly (readonly [RegExp, Opener])[] = [
  [/\.(csv|tsv)(\.gz)?$/i, openCsv],
  [/\.parquet$/i, openParquet],
  [/\.(arrow|feather|ipc)$/i, openArrow],
];

/**
 * Opens the file as the relation `raw` of the database. `file` is the path as the user gave it, for messages.
 *
 * @throws DataError when the file is missing, of unknown kind, not parsable, without rows or without key columns.
 */
export async function openRelation(database: Database, file: string, findKeys: KeyFinder): Promise<Relation> {
  const path = resolve(file);
  await checkIsFile(file, path);
  const opener = OPENERS.find(([extension]) => extension.test(path))?.[1];
  if (opener === undefined) throw extensionUnknown(file);
  const relation = await opener(database, file, path, findKeys);
  const rows = await queryRows(database, "SELECT 1 FROM raw LIMIT 1");
  if (rows.length === 0) throw noRows(file);
  return relation;
}

async function checkIsFile(file: string, path: string): Promise<void> {
  const status = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" || error.code === "ENOTDIR"
      ? fileMissing(file)
      : fileUnreadable(file, reasonOf(error));
  });
  if (!status.isFile()) throw fileUnreadable(file, "it is not a file");
  if (status.size === 0) throw noRows(file);
}
