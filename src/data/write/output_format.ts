/** The formats of outputs; their paths are checked before any computation. */
import { checkWritable } from "../../files/writing.ts";
import { outputExtensionUnknown, outputNamesClash } from "./output_errors.ts";

/** By format, the extensions that ask for it. Whoever adds one writes it in `output_file.ts`. */
const EXTENSIONS = {
  arrow: [".arrow", ".feather"],
  parquet: [".parquet"],
  csv: [".csv"],
  "csv.gz": [".csv.gz"],
} as const;

export type OutputFormat = keyof typeof EXTENSIONS;

/** The format that the extension of a path asks for. */
function formatOf(path: string): OutputFormat | undefined {
  const name = path.toLowerCase();
  const formats = Object.keys(EXTENSIONS) as OutputFormat[];
  return formats.find((format) => EXTENSIONS[format].some((extension) => name.endsWith(extension)));
}

/**
 * Checks that a table can be written to the path: a known extension (unless the format is given), and a folder that exists
 * and is writable.
 *
 * @throws UsageError E544.
 */
export async function checkOutputPath(path: string, format = formatOf(path)): Promise<OutputFormat> {
  if (format === undefined) throw outputExtensionUnknown(path, Object.values(EXTENSIONS).flat());
  await checkWritable(path);
  return format;
}

/**
 * DuckDB, with which all formats but Arrow are often read, would rename one of two names that differ only by case.
 *
 * @throws DataError E314 for such names.
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
