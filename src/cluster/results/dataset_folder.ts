import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parquetRowCount } from "../../data/parquet/parquet_rows.ts";
import { makeFolders } from "../../files/folders.ts";
import { isSystemError } from "../../files/system_error.ts";
import { CLAIM_FILE, checkClaim, FolderClaim } from "../exchange/folder_claim.ts";
import { datasetDiffers, datasetInUse, datasetTaken, storeFailed } from "../protocol/errors.ts";
import { PART_NAME } from "./dataset_part.ts";

/** Names the run of a dataset; readers of datasets skip names that start with `_`. */
const RUN_FILE = "_factorloom.json";
/** Exists once the dataset is complete: `{ run, rows, parts: [{ name, rows, bytes }] }`. */
const COMPLETE_FILE = "_complete.json";

/** A part as its writer reported it. */
export interface WrittenPart {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
}

/** The folder of a dataset. The workers of one client at a time write into it. */
export class DatasetFolder {
  readonly #path: string;
  readonly #run: string;
  readonly #token: string;
  readonly #claim: FolderClaim;

  /**
   * Creates the folder, or continues one of the same run, whose parts stay unless `isNew`. Any run may use a folder
   * without parts.
   *
   * @throws UsageError E629 for a folder with other files; ResourceError E625 if another client is writing it, E609 if it
   *   cannot be created.
   */
  static async open(
    path: string,
    { run, token, isNew }: { readonly run: string; readonly token: string; readonly isNew: boolean },
  ): Promise<DatasetFolder> {
    return await orStoreFailed(path, async () => {
      await makeFolders(path);
      const names = await readdir(path);
      // No claim is written into a folder with other files. That of a client that is gone may just be set aside.
      if (names.length > 0 && !names.some((name) => name === RUN_FILE || name.startsWith(CLAIM_FILE)))
        throw datasetTaken(path);
      const claim = await FolderClaim.take(path, token);
      if (claim === null) throw datasetInUse(path);
      const folder = new DatasetFolder(path, run, token, claim);
      try {
        await folder.#begin(isNew);
      } catch (error) {
        await claim.release();
        throw error;
      }
      return folder;
    });
  }

  private constructor(path: string, run: string, token: string, claim: FolderClaim) {
    this.#path = path;
    this.#run = run;
    this.#token = token;
    this.#claim = claim;
  }

  async #begin(isNew: boolean): Promise<void> {
    const names = (await readdir(this.#path)).filter((name) => !name.startsWith(CLAIM_FILE));
    const parts = names.filter((name) => PART_NAME.test(name));
    const isOurs = names.includes(RUN_FILE) && (await this.#runOf()) === this.#run;
    const isForeign = (name: string) =>
      !name.startsWith("_") && !name.startsWith(".") && !parts.includes(name);
    if (names.some(isForeign) || (parts.length > 0 && !isOurs)) throw datasetTaken(this.#path);
    // Incomplete until `complete` has checked it again.
    await rm(join(this.#path, COMPLETE_FILE), { force: true });
    const isLeftOver = (name: string) => name.endsWith(".tmp") || (isNew && parts.includes(name));
    for (const name of names.filter(isLeftOver)) await rm(join(this.#path, name), { force: true });
    if (!isOurs) await this.#write(RUN_FILE, { run: this.#run });
  }

  /**
   * Marks the dataset as complete, after checking on this host that it has all parts, with the sizes and rows that their
   * writers reported, and nothing else.
   *
   * @throws ResourceError E626 that names the difference; UsageError E614 if another client has taken the folder.
   */
  async complete(parts: readonly WrittenPart[], signal?: AbortSignal): Promise<void> {
    await orStoreFailed(this.#path, async () => {
      checkClaim(this.#path, this.#token);
      const seen = (await readdir(this.#path)).filter((name) => !/^[._]/.test(name));
      const expected = new Set(parts.map(({ name }) => name));
      const other = seen.find((name) => !expected.has(name));
      if (other !== undefined) throw datasetDiffers(this.#path, `${other} is not one of its parts`);
      for (const part of parts) {
        signal?.throwIfAborted();
        await this.#check(part);
      }
      const rows = parts.reduce((sum, part) => sum + part.rows, 0);
      await this.#write(COMPLETE_FILE, { run: this.#run, rows, parts });
    });
  }

  async #check({ name, rows, bytes }: WrittenPart): Promise<void> {
    const path = join(this.#path, name);
    const size = (await stat(path).catch(() => null))?.size;
    if (size === undefined) throw datasetDiffers(this.#path, `${name} is missing`);
    if (size !== bytes) throw datasetDiffers(this.#path, `${name} has ${size} of ${bytes} bytes`);
    const found = await parquetRowCount(path);
    if (found !== rows) throw datasetDiffers(this.#path, `${name} has ${found} of ${rows} rows`);
  }

  async release(): Promise<void> {
    await this.#claim.release();
  }

  async #runOf(): Promise<unknown> {
    const text = await readFile(join(this.#path, RUN_FILE), "utf8");
    try {
      return (JSON.parse(text) as { run?: unknown }).run;
    } catch {
      return null;
    }
  }

  async #write(name: string, content: object): Promise<void> {
    const temporary = join(this.#path, `.${name}.${this.#token}.tmp`);
    try {
      await writeFile(temporary, `${JSON.stringify(content)}\n`);
      await rename(temporary, join(this.#path, name));
    } finally {
      await rm(temporary, { force: true });
    }
  }
}

async function orStoreFailed<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isSystemError(error) ? storeFailed(folder, error.message) : error;
  }
}
