/** Where output goes: checked before any computation. */
import { checkWritable } from "../../files/writing.ts";
import { outputExtensionUnknown, outputNamesClash } from "./output_errors.ts";

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

/** DuckDB takes names that differ only by case for the same and would rename one. */
function checkNamesDiffer(path: string, names: readonly string[]): void {
  const firstByKey = new Map<string, string>();
  for (const name of names) {
    const first = firstByKey.get(name.toLowerCase());
    if (first !== undefined) throw outputNamesClash(path, first, name);
    firstByKey.set(name.toLowerCase(), name);
  }
}
