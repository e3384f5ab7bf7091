/** The formats of outputs; their paths are checked before any computation. */
import { DataError, UsageError } from "../../errors.ts";
import { checkWritable } from "../../files/writing.ts";
import { quoted, repeatedName } from "../errors.ts";

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
  if (format === undefined) {
    const known: string[] = Object.values(EXTENSIONS).flat();
    const remedy = `use ${known.slice(0, -1).join(", ")} or ${known.at(-1)}; on a cluster also a folder, its name with a slash at the end`;
    throw new UsageError("E544", `${path}: this kind of output is not known`, remedy);
  }
  await checkWritable(path);
  return format;
}

/**
 * DuckDB, with which all formats but Arrow are often read, would rename one of two names that differ only by case.
 *
 * @throws DataError E314 for such names.
 */
export function checkNamesDiffer(path: string, format: OutputFormat, names: readonly string[]): void {
  const repeated = format === "arrow" ? null : repeatedName(names);
  if (repeated === null) return;
  const [first, second] = repeated.map(quoted);
  throw new DataError(
    "E314",
    `${path}: the output columns ${first} and ${second} differ only by case, which this format cannot hold`,
    "rename one factor, or write .arrow",
  );
}
