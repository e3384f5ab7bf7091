/** Errors of outputs that cannot be written or would overwrite inputs. */
import { ResourceError, UsageError } from "../errors.ts";

/** An output that would replace an input, lie among inputs, or contain one. */
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

export function writeFailed(file: string, reason: string, cause: unknown): ResourceError {
  return new ResourceError(
    "E442",
    `${file}: cannot be written (${reason})`,
    "check the free space and the permissions of its folder",
    { cause },
  );
}
