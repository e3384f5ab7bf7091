/** Opens a user's table in the format of its extension. */

import { statSync } from "node:fs";
import { type Database, queryRows } from "../duckdb/database.ts";
import type { KeyFinder, Relation } from "../duckdb/relation.ts";
import { extensionUnknown, noRows } from "../errors.ts";
import { openArrow } from "./arrow_source.ts";
import { openCsv } from "./csv_source.ts";
import { type InputFiles, listInputFiles } from "./input_files.ts";
import { openParquet } from "./parquet_source.ts";

type Opener = (database: Database, files: InputFiles, findKeys: KeyFinder) => Promise<Relation>;

const OPENERS: readonly (readonly [RegExp, Opener])[] = [
  [/\.(csv|tsv)(\.gz)?$/i, openCsv],
  [/\.parquet$/i, openParquet],
  [/\.(arrow|feather|ipc)$/i, openArrow],
];

/** Whether a path names a table, by its extension, or a folder. */
export function isTablePath(path: string): boolean {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder || OPENERS.some(([extension]) => extension.test(path));
}

/**
 * Opens the file, or the folder of files, as the relation `raw` of the database.
 *
 * @param file the path as the user gave it, also for messages
 * @throws DataError if the file is missing, of unknown kind, not parsable, without rows or without key columns; if the files
 *   of a folder differ in kind or columns.
 */
export async function openRelation(database: Database, file: string, findKeys: KeyFinder): Promise<Relation> {
  const files = await listInputFiles(file);
  const opener = OPENERS.find(([extension]) => extension.test(files.paths[0]!))?.[1];
  if (opener === undefined) throw extensionUnknown(file);
  const relation = await opener(database, files, findKeys);
  const rows = await queryRows(database, "SELECT 1 FROM raw LIMIT 1");
  if (rows.length === 0) throw noRows(file);
  return relation;
}
