/** Outputs that cannot be written, would destroy what is read, or have been written over. */
import { DataError, ResourceError, UsageError } from "../errors.ts";
import { quoted } from "./errors.ts";

const OUTPUT_FORMATS = ".arrow, .feather, .parquet, .csv or .csv.gz";

/** An output that would replace, join or hold what the same command reads. */
function outputMeets(problem: string, remedy: string): UsageError {
  return new UsageError("E514", problem, remedy);
}

export function outputOverwrites(option: string, file: string, input: string): UsageError {
  const what = file === input ? "an input" : `the input ${input}`;
  return outputMeets(`${option} ${file} would overwrite ${what}`, "give it a name of its own");
}

export function outputAmongInputs(option: string, file: string, input: string): UsageError {
  return outputMeets(
    `${option} ${file} would lie among the files of ${input}, which is read`,
    "write it to another folder",
  );
}

export function outputHolds(option: string, file: string, input: string): UsageError {
  return outputMeets(
    `${option} ${file} is a folder that holds the input ${input}`,
    "write it to a folder of its own",
  );
}

export function tableOverwritten(): ResourceError {
  return new ResourceError(
    "E407",
    "the table's memory has been used again for a later row",
    "read a table before the next push, or push with copy: true",
  );
}

export function outputNamesClash(file: string, first: string, second: string): DataError {
  return new DataError(
    "E343",
    `${file}: the output columns ${quoted(first)} and ${quoted(second)} differ only by case, which this format cannot hold`,
    "rename one factor, or write .arrow",
  );
}

export function outputExtensionUnknown(file: string): UsageError {
  const remedy = `use ${OUTPUT_FORMATS}; on a cluster also a folder, its name with a slash at the end`;
  return new UsageError("E542", `${file}: this kind of output is not known`, remedy);
}

export function outputFolderMissing(file: string, folder: string): UsageError {
  return new UsageError("E543", `${file}: there is no folder ${folder}`, "create the folder first");
}

export function outputNotWritable(file: string, reason: string): UsageError {
  return new UsageError(
    "E544",
    `${file}: cannot be written (${reason})`,
    "choose another place for the output",
  );
}
