/** Errors of outputs that cannot be written or would overwrite inputs. */
import { errorsOf, ResourceError, UsageError } from "../errors.ts";

const notPossibleThere = errorsOf(UsageError, "E544");

/** An output that would replace an input, lie among inputs, or contain one. */
const outputMeets = (problem: string, remedy: string) => new UsageError("E514", problem, remedy);

export function outputOverwrites(option: string, file: string, input: string): UsageError {
  const what = file === input ? "an input" : `the input ${input}`;
  return outputMeets(`${option} ${file} would overwrite ${what}`, "give it a name of its own");
}

export const outputAmongInputs = (option: string, file: string, input: string) =>
  outputMeets(
    `${option} ${file} would lie among the files of ${input}, which is read`,
    "write it to another folder",
  );

export const outputHolds = (option: string, file: string, input: string) =>
  outputMeets(
    `${option} ${file} is a folder that holds the input ${input}`,
    "write it to a folder of its own",
  );

export const outputFolderMissing = (file: string, folder: string) =>
  notPossibleThere(`${file}: there is no folder ${folder}`, "create the folder first");

export const outputNotWritable = (file: string, reason: string) =>
  notPossibleThere(`${file}: cannot be written (${reason})`, "choose another place for the output");

export const writeFailed = (file: string, reason: string, cause: unknown) =>
  new ResourceError(
    "E442",
    `${file}: cannot be written (${reason})`,
    "check the free space and the permissions of its folder",
    { cause },
  );
