/** The errors of checkpoints. */
import { DataError } from "../errors.ts";

const AGAIN = "take an older one, or start again from history";

/** The bytes of a checkpoint are not those that were written. @param path of the file that is damaged */
export function checkpointDamaged(
  reason: string,
  path: string | null = null,
  options?: ErrorOptions,
): DataError {
  const where = path === null ? "" : `${path}: `;
  return new DataError("E351", `${where}the checkpoint is damaged: ${reason}`, AGAIN, options);
}

/** A valid checkpoint of another session. */
export const checkpointForeign = (reason: string) =>
  new DataError("E352", `the checkpoint belongs to another session: ${reason}`, "start again from history");

/** A checkpoint in a format that is not read any more, or not yet. */
export function checkpointOfOtherFormat(written: string, path: string | null): DataError {
  const where = path === null ? "" : `${path}: `;
  return new DataError(
    "E352",
    `${where}the checkpoint was written by ${written}`,
    "go on with that release, or start again from history: the option warmup",
  );
}

/** A folder that the system does not open, or that is none. */
export function checkpointUnreadable(path: string, reason: string, cause?: unknown): DataError {
  const remedy =
    "give the folder that session.checkpoint(folder) has written, or the bytes of session.checkpoint()";
  return new DataError("E309", `${path}: cannot be opened (${reason})`, remedy, { cause });
}
