import { randomUUID } from "node:crypto";
import { readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "../../files/folders.ts";
import { storeFailed } from "../protocol/errors.ts";
import { CLAIM_FILE, checkClaim, FolderClaim } from "./folder_claim.ts";

/** Names of folders of runs. */
export const RUN_NAME = /^factorloom-[0-9a-f]{16}(-\d+)?$/;
/** Folders whose removal was interrupted. */
export const DOOMED_NAME = /^factorloom-removed-/;
/** How often a run may find that the folder which it is about to claim has just been removed. */
const VANISHED_MAX = 100;

/**
 * The folder of a run in a tile store. Its name is a digest of what the run computes, so that an interrupted run continues
 * with the files of its folder. Concurrent runs of the same have separate folders.
 */
export class RunFolder {
  readonly path: string;
  readonly #claim: FolderClaim;
  readonly #token: string;

  /** @throws ResourceError E609 if the store cannot be written. */
  static async open(store: string, id: string, token: string): Promise<RunFolder> {
    for (let copy = 1, vanished = 0; ; ) {
      const path = join(store, copy === 1 ? `factorloom-${id}` : `factorloom-${id}-${copy}`);
      try {
        await makeFolder(path);
        const claim = await FolderClaim.take(path, token);
        if (claim !== null) return new RunFolder(path, claim, token);
        copy++;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        const mayHaveVanished = code === "ENOENT" || code === "EEXIST";
        if (!mayHaveVanished || vanished++ === VANISHED_MAX) throw storeFailed(path, message);
      }
    }
  }

  private constructor(path: string, claim: FolderClaim, token: string) {
    this.path = path;
    this.#claim = claim;
    this.#token = token;
  }

  /**
   * Removes all tiles, so that everything is computed again.
   *
   * @throws UsageError E614 if another client has taken the folder; ResourceError E609.
   */
  async clear(): Promise<void> {
    checkClaim(this.path, this.#token);
    try {
      const names = (await readdir(this.path)).filter((name) => name !== CLAIM_FILE);
      for (const name of names)
        await rm(join(this.path, name), { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      throw storeFailed(this.path, (error as Error).message);
    }
  }

  /** Gives up the folder; removes it if that is asked for, or if nothing is in it. */
  async release(remove: boolean): Promise<void> {
    // Executors that are being stopped may still write: a file that they leave does no harm.
    await this.#claim.release(() => (remove ? discard(this.path).catch(() => {}) : removeParts(this.path)));
    if (!remove) await rmdir(this.path).catch(() => {});
  }
}

/** Removes the folder of a run as a whole: in one that is half removed the next run would make its claim in vain. */
export async function discard(path: string): Promise<void> {
  const doomed = join(dirname(path), `factorloom-removed-${randomUUID()}`);
  await rename(path, doomed);
  await rm(doomed, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes the unfinished files of killed executors, which may be large. */
async function removeParts(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const parts = names.filter((name) => name.endsWith(".tmp"));
  await Promise.all(parts.map((name) => rm(join(folder, name), { force: true }).catch(() => {})));
}
