/** Errors of output formats. */
import { DataError, UsageError } from "../../errors.ts";
import { quoted } from "../errors.ts";

export function outputExtensionUnknown(file: string, known: readonly string[]): UsageError {
  const remedy = `use ${known.slice(0, -1).join(", ")} or ${known.at(-1)}; on a cluster also a folder, its name with a slash at the end`;
  return new UsageError("E544", `${file}: this kind of output is not known`, remedy);
}

export function outputNamesClash(file: string, first: string, second: string): DataError {
  return new DataError(
    "E314",
    `${file}: the output columns ${quoted(first)} and ${quoted(second)} differ only by case, which this format cannot hold`,
    "rename one factor, or write .arrow",
  );
}

export function writerMisused(file: string, problem: string): UsageError {
  const remedy = "open a writer for each file, write all batches of the stream, then commit";
  return new UsageError("E548", `${file} ${problem}`, remedy);
}
