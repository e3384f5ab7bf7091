/** Rows of a DuckDB query as files: each run writes the new rows to a file, which is then read like any other. */
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type QueryRowsOptions, writeQueryRows } from "../../data/job_tables/database_file.ts";
import { makeDurableFolder, syncFile, syncFolder } from "../../files/durable.ts";
import { pendingFile } from "../../files/pending_file.ts";
import type { QuerySource } from "../config/config.ts";
import { inputGone, type TakenRows } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";

export interface QueryFiles extends TakenRows {
  readonly paths: readonly string[];
  /** Rows without a time or a symbol that were left out. */
  readonly incompleteRows: number;
}

/**
 * Writes the new rows of a query to a file; returns the files of all its rows, in order. They stay: a lost checkpoint is
 * recomputed from them, since the query may give other rows by then.
 *
 * @param folder where earlier rows are
 * @param target where the new rows go: the same, or another folder to change nothing
 * @throws as `writeQueryRows`; DataError E361 if an earlier file is missing.
 */
export async function takeQueryRows(
  { database, query, timeColumn, symbolColumn }: QuerySource,
  folder: string,
  target: string,
  ledger: Ledger,
  options: Pick<QueryRowsOptions, "leaveOutIncomplete" | "columnsRead">,
): Promise<QueryFiles> {
  await makeDurableFolder(target);
  // Their rows were evaluated or skipped.
  const there = await listQueryFiles(folder);
  const consumed = ledger.consumed.getAll(there);
  const earlier = there.filter(
    (path, index) => consumed[index] !== null || ledger.skipped.get(path) !== null,
  );
  const known = new Set(earlier);
  for (const page of ledger.consumed.pages()) {
    const lost = page.find(({ path }) => dirname(path) === folder && !known.has(path));
    if (lost !== undefined) throw inputGone(lost.path, "it is missing");
  }
  // Rows that were taken but not evaluated may have been corrected: take them again.
  for (const path of await listQueryFiles(target)) if (!known.has(path)) await rm(path);
  const name = `rows-${String(earlier.length + 1).padStart(8, "0")}.parquet`;
  const path = join(target, name);
  const { temporaryPath, commit } = await pendingFile(path);
  const keys = { timeColumn, symbolColumn };
  const written = await writeQueryRows(database, query, temporaryPath, { ...keys, earlier, ...options });
  const { rowCount, incompleteRowCount: incompleteRows, ...changes } = written;
  if (rowCount === 0) return { paths: earlier, incompleteRows, ...changes };
  await syncFile(temporaryPath);
  await commit();
  await syncFolder(target);
  return { paths: [...earlier, path], incompleteRows, ...changes };
}

async function listQueryFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [] as string[]);
  return names
    .filter((name) => /^rows-\d+\.parquet$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}
