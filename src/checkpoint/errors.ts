/** The errors of checkpoints. */
import { DataError } from "../errors.ts";

const of = (path: string | null) => (path === null ? "" : `${path}: `);

/** The bytes of a checkpoint are not those that were written. @param path of the file that is damaged */
export const checkpointDamaged = (reason: string, path: string | null, options?: ErrorOptions) =>
  new DataError(
    "E351",
    `${of(path)}the checkpoint is damaged: ${reason}`,
    "take an older one, or start again from history",
    options,
  );

/** A valid checkpoint of another session. */
export const checkpointForeign = (reason: string) =>
  new DataError("E352", `the checkpoint belongs to another session: ${reason}`, "start again from history");

/** A checkpoint in a format that is not read any more, or not yet. */
export const checkpointOfOtherFormat = (written: string, path: string | null) =>
  new DataError(
    "E352",
    `${of(path)}the checkpoint was written by ${written}`,
    "go on with that release, or start again from history: the option warmup",
  );

/** A folder that holds no checkpoint, maybe as none was written to its end, or that the system does not open. */
export const checkpointMissing = (folder: string, cause: Error) =>
  new DataError(
    "E309",
    `${folder}: holds no checkpoint (${cause.message})`,
    "give the folder that session.checkpoint(folder) has written, or start from history: the option warmup",
    { cause },
  );
