import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Database, openDatabase } from "../../data/duckdb/database.ts";
import { parquetRowCounts } from "../../data/read/parquet_source.ts";
import { makeFolders } from "../../files/folders.ts";
import { replaceFile } from "../../files/pending_file.ts";
import { datasetDiffers, datasetInUse, datasetTaken } from "../protocol/errors.ts";
import type { Cut } from "../protocol/protocol.ts";
import { COLUMNS_FOLDER } from "./column_file.ts";
import { PART_NAME } from "./dataset_part.ts";
import { CLAIM_FILE, checkClaim, FolderClaim } from "./folder_claim.ts";
import { readRecord, storing, writeRecord } from "./stored_files.ts";

/** Names the run of a dataset, and how it was cut; readers of datasets skip names that start with `_`. */
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
  /** That of the run which the folder holds: a resumed run is cut as it was. */
  readonly cut: Cut;
  readonly #path: string;
  readonly #run: string;
  readonly #token: string;
  readonly #claim: FolderClaim;

  /**
   * Creates the folder, or continues one of the same run, whose parts stay. Any run may use a folder without parts.
   *
   * @throws UsageError E532 for a folder with other files; ResourceError E450 if another client is writing it, E442 if it
   *   cannot be created.
   */
  static async open(
    path: string,
    { run, token, cut }: { readonly run: string; readonly token: string; readonly cut: Cut },
  ): Promise<DatasetFolder> {
    return await storing(path, async () => {
      await makeFolders(path);
      const names = await readdir(path);
      // No claim is written into a folder with other files. That of a client that is gone may just be set aside.
      if (names.length > 0 && !names.some((name) => name === RUN_FILE || name.startsWith(CLAIM_FILE)))
        throw datasetTaken(path);
      const claim = await FolderClaim.take(path, token);
      if (claim === null) throw datasetInUse(path);
      try {
        return new DatasetFolder(path, token, claim, await begin(path, { run, cut }));
      } catch (error) {
        await claim.release();
        throw error;
      }
    });
  }

  private constructor(path: string, token: string, claim: FolderClaim, record: RunRecord) {
    this.#path = path;
    this.#token = token;
    this.#claim = claim;
    this.#run = record.run;
    this.cut = record.cut;
  }

  /**
   * Marks the dataset as complete, after checking on this host that it has all parts, with the sizes and rows that their
   * writers reported, and nothing else.
   *
   * @throws ResourceError E626 that names the difference; UsageError E614 if another client has taken the folder.
   */
  async complete(parts: readonly WrittenPart[], signal?: AbortSignal): Promise<void> {
    await storing(this.#path, async () => {
      checkClaim(this.#path, this.#token);
      const names = await readdir(this.#path);
      const seen = names.filter((name) => !/^[._]/.test(name));
      const expected = new Set(parts.map(({ name }) => name));
      const other = seen.find((name) => !expected.has(name));
      if (other !== undefined) throw datasetDiffers(this.#path, `${other} is not one of its parts`);
      {
        using database = await openDatabase();
        for (const part of parts) {
          signal?.throwIfAborted();
          await this.#check(database, part);
        }
      }
      const rows = parts.reduce((sum, part) => sum + part.rows, 0);
      await rm(join(this.#path, COLUMNS_FOLDER), { recursive: true, force: true, maxRetries: 3 });
      await removeUnfinished(this.#path);
      await replaceFile(
        join(this.#path, COMPLETE_FILE),
        `${JSON.stringify({ run: this.#run, rows, parts })}\n`,
      );
    });
  }

  async #check(database: Database, { name, rows, bytes }: WrittenPart): Promise<void> {
    const path = join(this.#path, name);
    const size = (await stat(path).catch(() => null))?.size;
    if (size === undefined) throw datasetDiffers(this.#path, `${name} is missing`);
    if (size !== bytes) throw datasetDiffers(this.#path, `${name} has ${size} of ${bytes} bytes`);
    const [found] = await parquetRowCounts(database, [path]).catch(() => [null]);
    if (found !== rows) throw datasetDiffers(this.#path, `${name} has ${found} of ${rows} rows`);
  }

  async release(): Promise<void> {
    await this.#claim.release();
  }
}

interface RunRecord {
  readonly run: string;
  readonly cut: Cut;
}

/** Prepares a claimed folder for a run; returns what it is to be, as it was begun. */
async function begin(path: string, record: RunRecord): Promise<RunRecord> {
  const names = (await readdir(path)).filter((name) => !name.startsWith(CLAIM_FILE));
  const parts = names.filter((name) => PART_NAME.test(name));
  // The cut decides which rows the parts have, so a changed one must not be used.
  const file = join(path, RUN_FILE);
  const begun = names.includes(RUN_FILE) ? await readRecord<RunRecord>(file, RUN_FILE) : null;
  const isOurs = begun?.run === record.run;
  const isForeign = (name: string) => !/^[._]/.test(name) && !parts.includes(name);
  if (names.some(isForeign) || (parts.length > 0 && !isOurs)) throw datasetTaken(path);
  // Incomplete until `complete` has checked it again.
  await rm(join(path, COMPLETE_FILE), { force: true });
  await removeUnfinished(path);
  if (isOurs) return begun;
  await rm(join(path, COLUMNS_FOLDER), { recursive: true, force: true, maxRetries: 3 });
  await writeRecord(file, RUN_FILE, record);
  return record;
}

/** Of executors that were killed. */
async function removeUnfinished(path: string): Promise<void> {
  const names = await readdir(path);
  for (const name of names.filter((each) => each.endsWith(".tmp") && !each.startsWith(CLAIM_FILE)))
    await rm(join(path, name), { force: true });
}
