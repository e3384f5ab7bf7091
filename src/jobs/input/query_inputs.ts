/** Rows of a DuckDB query as files: each run writes the new rows to a file, which is then read like any other. */
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type QueryRowsOptions, writeQueryRows } from "../../data/job_tables/database_file.ts";
import { pendingFile } from "../../files/pending_file.ts";
import type { JobConfig, QuerySource } from "../config/config.ts";
import { inputGone, rowsMisplaced, type TakenRows } from "../errors.ts";
import { makeDurableFolder, syncFile, syncFolder } from "../journal/durable.ts";
import type { JobHistory } from "../journal/history.ts";

export type QueryOptions = Pick<QueryRowsOptions, "leaveOutIncomplete" | "columnsRead">;

export interface QueryFiles extends TakenRows {
  readonly paths: readonly string[];
  /** Rows without a time or a symbol that were left out. */
  readonly incompleteRows: number;
}

/**
 * Writes the new rows of a query to a file; returns the files of all its rows, in order. They stay: a lost checkpoint is
 * recomputed from them, since the query may give other rows by then.
 *
 * @throws as `writeQueryRows`.
 */
export async function takeQueryRows(
  source: QuerySource,
  folder: string,
  history: JobHistory,
  options: QueryOptions,
): Promise<QueryFiles> {
  await makeDurableFolder(folder);
  const earlier = await settledQueryFiles(folder, history);
  const known = new Set(earlier);
  const lost = history.consumed.find(({ path }) => dirname(path) === folder && !known.has(path));
  if (lost !== undefined) throw inputGone(lost.path, "it is missing");
  // Rows that were taken but not evaluated may have been corrected: take them again.
  for (const path of await listQueryFiles(folder)) if (!known.has(path)) await rm(path);
  const name = `rows-${String(earlier.length + 1).padStart(8, "0")}.parquet`;
  const path = join(folder, name);
  const { temporaryPath, commit } = await pendingFile(path);
  const { database, query, timeColumn, symbolColumn } = source;
  const {
    rowCount,
    incompleteRowCount: incompleteRows,
    ...changes
  } = await writeQueryRows(database, query, temporaryPath, {
    timeColumn,
    symbolColumn,
    earlier,
    ...options,
  });
  if (rowCount === 0) return { paths: earlier, incompleteRows, ...changes };
  await syncFile(temporaryPath);
  await commit();
  await syncFolder(folder);
  return { paths: [...earlier, path], incompleteRows, ...changes };
}

/** @throws DataError E361 unless the rows that were taken are as they were, or the job skips what is not. */
export function expectInPlace({ name, badInput }: JobConfig, rows: TakenRows): void {
  const count = rows.late.count + rows.vanished.count + rows.changed.count;
  if (badInput === "fail" && count > 0) throw rowsMisplaced(name, rows);
}

/** Files whose rows were evaluated or skipped. */
export async function settledQueryFiles(folder: string, history: JobHistory): Promise<string[]> {
  const paths = await listQueryFiles(folder);
  return paths.filter((path) => history.inputAt(path) !== undefined || history.skipped.has(path));
}

async function listQueryFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [] as string[]);
  return names
    .filter((name) => /^rows-\d+\.parquet$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}
