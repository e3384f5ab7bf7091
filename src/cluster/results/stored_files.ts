import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { isSystemError } from "../../files/system_error.ts";
import { storeFailed } from "../protocol/errors.ts";

/** Runs work on a file. @throws ResourceError E442, which names the file, for an error of the system. */
export function orStoreFailed<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storeError(path, error);
  }
}

/** The same for work that takes a while. */
export async function storing<T>(path: string, work: () => Promise<T>): Promise<T> {
  return await work().catch((error: unknown) => {
    throw storeError(path, error);
  });
}

function storeError(path: string, error: unknown): unknown {
  return isSystemError(error) ? Object.assign(storeFailed(path, error.message), { cause: error }) : error;
}

/** Removes an unfinished file, if that is possible. */
export function removeLeftOver(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The failed write is reported instead.
  }
}

/** A unique name in the same folder: two executors may write the same file. */
export function temporaryName(path: string): string {
  return `${path}.${randomUUID()}.tmp`;
}
