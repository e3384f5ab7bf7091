/** Where output goes: checked before any computation. */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { FactorloomError } from "../errors.ts";
import { reasonOf } from "./database.ts";
import { writeFailed } from "./errors.ts";
import {
  outputExtensionUnknown,
  outputFolderMissing,
  outputNamesClash,
  outputNotWritable,
} from "./output_errors.ts";
import { outputTarget } from "./output_target.ts";

export type OutputFormat = "arrow" | "parquet" | "csv" | "csv.gz";

const FORMATS: readonly (readonly [RegExp, OutputFormat])[] = [
  [/\.(arrow|feather)$/i, "arrow"],
  [/\.parquet$/i, "parquet"],
  [/\.csv$/i, "csv"],
  [/\.csv\.gz$/i, "csv.gz"],
];

/**
 * Checks that a table can be written to the path: known extension, a folder that exists and is writable, and, when
 * the names of the output columns are given, that the format can tell them apart. A format that is given counts, not
 * the extension.
 *
 * @throws UsageError E542, E543, E544; DataError E343 for names that differ only by case.
 */
export async function checkOutputPath(
  path: string,
  columnNames: readonly string[] = [],
  format = FORMATS.find(([extension]) => extension.test(path))?.[1],
): Promise<OutputFormat> {
  if (format === undefined) throw outputExtensionUnknown(path);
  await checkWritable(path);
  if (format !== "arrow") checkNamesDiffer(path, columnNames);
  return format;
}

/**
 * Checks that a file can be written to the path: its folder exists and is writable, and it is no folder itself.
 *
 * @throws UsageError E543, E544.
 */
export async function checkWritable(path: string): Promise<void> {
  const folder = dirname(outputTarget(path));
  const folderStatus = await stat(folder).catch(() => null);
  if (folderStatus === null) throw outputFolderMissing(path, folder);
  if (!folderStatus.isDirectory()) throw outputNotWritable(path, `${folder} is not a folder`);
  const status = await stat(path).catch(() => null);
  if (status?.isDirectory()) throw outputNotWritable(path, "it is a folder");
  await access(folder, constants.W_OK).catch(() => {
    throw outputNotWritable(path, `no permission to write in ${folder}`);
  });
}

/** DuckDB takes names that differ only by case for the same and would rename one. */
function checkNamesDiffer(path: string, names: readonly string[]): void {
  const firstByKey = new Map<string, string>();
  for (const name of names) {
    const first = firstByKey.get(name.toLowerCase());
    if (first !== undefined) throw outputNamesClash(path, first, name);
    firstByKey.set(name.toLowerCase(), name);
  }
}

/** Runs work on an output file. @throws ResourceError E442 when it fails for a reason that is not ours. */
export async function writing<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FactorloomError) throw error;
    throw writeFailed(path, reasonOf(error), error);
  }
}
