/** Checks output files before any computation, and gives errors of the system one code. */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { reasonOf } from "../text/reason.ts";
import { outputFolderMissing, outputNotWritable, writeFailed } from "./errors.ts";
import { outputTarget } from "./output_target.ts";
import { isSystemError } from "./system_error.ts";

/**
 * Checks that a file can be written to the path: its folder exists and is writable, and it is not a folder.
 *
 * @throws UsageError E544.
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

/** Runs work on an output file. @throws ResourceError E442 for an error of the system. */
export async function writing<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isSystemError(error) ? writeFailed(path, reasonOf(error), error) : error;
  }
}
