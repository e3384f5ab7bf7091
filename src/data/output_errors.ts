/** Outputs that would destroy what is read, or have been written over. */
import { ResourceError, UsageError } from "../errors.ts";

export function outputOverwrites(option: string, file: string, input: string): UsageError {
  const what = file === input ? "an input" : `the input ${input}`;
  return new UsageError("E514", `${option} ${file} would overwrite ${what}`, "give it a name of its own");
}

export function outputAmongInputs(option: string, file: string, input: string): UsageError {
  return new UsageError(
    "E514",
    `${option} ${file} would lie among the files of ${input}, which is read`,
    "write it to another folder",
  );
}

export function outputHolds(option: string, file: string, input: string): UsageError {
  return new UsageError(
    "E514",
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
