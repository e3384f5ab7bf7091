import { randomUUID } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isSystemError } from "../../files/system_error.ts";
import { storeFailed } from "../protocol/errors.ts";
import { FolderClaim, isClaimed } from "./folder_claim.ts";
import { openStore } from "./open_store.ts";
import { DOOMED_NAME, discard, RUN_NAME } from "./run_folder.ts";

/** The folder of a run in a store, and what `cleanStore` did with it. */
export interface StoredRun {
  readonly name: string;
  readonly bytes: number;
  /** Time since the last change of a file in it. */
  readonly ageMs: number;
  readonly fate: "removed" | "would be removed" | "kept: its run is alive" | "kept: not old enough";
}

/**
 * Removes the folders of runs that ended early from a store, and nothing else. A trial removes nothing.
 *
 * @throws UsageError E630 if the store is missing; ResourceError E609 if a folder cannot be removed.
 */
export async function cleanStore(
  store: string,
  { olderThanMs, isTrial }: { readonly olderThanMs: number; readonly isTrial: boolean },
): Promise<StoredRun[]> {
  await openStore(store, false);
  try {
    const names = (await readdir(store)).filter((name) => RUN_NAME.test(name) || DOOMED_NAME.test(name));
    const runs: StoredRun[] = [];
    for (const name of names.sort()) {
      const size = await sizeOf(join(store, name));
      // The run has removed it.
      if (size === null) continue;
      const ageMs = Math.max(0, Date.now() - size.changedMs);
      const fate = await dispose(store, name, { isOld: ageMs >= olderThanMs, isTrial });
      runs.push({ name, bytes: size.bytes, ageMs, fate });
    }
    return runs;
  } catch (error) {
    throw isSystemError(error) ? storeFailed(store, error.message) : error;
  }
}

async function dispose(
  store: string,
  name: string,
  { isOld, isTrial }: { readonly isOld: boolean; readonly isTrial: boolean },
): Promise<StoredRun["fate"]> {
  const path = join(store, name);
  if (await isClaimed(path)) return "kept: its run is alive";
  if (!isOld) return "kept: not old enough";
  if (isTrial) return "would be removed";
  const claim = await FolderClaim.take(path, randomUUID());
  if (claim === null) return "kept: its run is alive";
  try {
    await discard(path);
  } finally {
    await claim.release();
  }
  return "removed";
}

/** Null if it is not a folder, or is gone. */
async function sizeOf(folder: string): Promise<{ bytes: number; changedMs: number } | null> {
  const root = await stat(folder).catch(() => null);
  if (root?.isDirectory() !== true) return null;
  let [bytes, changedMs] = [0, root.mtimeMs];
  for (const name of await readdir(folder, { recursive: true }).catch(() => [])) {
    const status = await stat(join(folder, name)).catch(() => null);
    if (status === null) continue;
    if (status.isFile()) bytes += status.size;
    changedMs = Math.max(changedMs, status.mtimeMs);
  }
  return { bytes, changedMs };
}
