import { isSystemError } from "../../files/system_error.ts";
import { storageFails } from "../errors.ts";

/** Runs work on files of a job. @throws ResourceError E442 for a system error. */
export async function storing<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isSystemError(error) ? storageFails(path, error) : error;
  }
}
