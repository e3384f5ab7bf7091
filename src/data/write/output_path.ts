/** Checks paths of outputs, before any computation. */
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
 * Checks that a table can be written to the path: a known extension (unless the format is given), and a folder that exists
 * and is writable.
 *
 * @throws UsageError E542, E543, E544.
 */
export async function checkOutputPath(
  path: string,
  format = FORMATS.find(([extension]) => extension.test(path))?.[1],
): Promise<OutputFormat> {
  if (format === undefined) throw outputExtensionUnknown(path);
  await checkWritable(path);
  return format;
}

/**
 * DuckDB, which writes all formats but Arrow, would rename one of two names that differ only by case.
 *
 * @throws DataError E343 for such names.
 */
export function checkNamesDiffer(path: string, format: OutputFormat, names: readonly string[]): void {
  if (format === "arrow") return;
  const firstByKey = new Map<string, string>();
  for (const name of names) {
    const first = firstByKey.get(name.toLowerCase());
    if (first !== undefined) throw outputNamesClash(path, first, name);
    firstByKey.set(name.toLowerCase(), name);
  }
}
