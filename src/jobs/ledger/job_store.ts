/** The files of a job: its ledger, its checkpoints, the rows of its query. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { checkpointDamaged } from "../../checkpoint/errors.ts";
import { readCheckpoint, type StoredCheckpoint } from "../../checkpoint/read_checkpoint.ts";
import type { Snapshot } from "../../checkpoint/state_file.ts";
import { removeOthers, type WrittenFolder, writeFolder } from "../../checkpoint/write_checkpoint.ts";
import { makeDurableFolder } from "../../files/durable.ts";
import { type Access, Ledger } from "./ledger.ts";
import type { Batch } from "./records.ts";
import { storing } from "./storing.ts";

/** What the names of checkpoints begin with; the number of the batch follows. */
const CHECKPOINT = "checkpoint-";

export class JobStore implements Disposable {
  readonly ledger: Ledger;
  readonly #folder: string;
  /** The last checkpoint that was written. */
  #written: WrittenFolder | null = null;

  /** With `read` nothing is changed. @throws as `Ledger.open`; ResourceError E442 for a system error. */
  static async open(journal: string, job: string, access: Access = "write"): Promise<JobStore> {
    const folder = join(journal, job);
    const path = join(folder, "ledger.sqlite");
    if (access !== "read") await storing(folder, () => makeDurableFolder(folder));
    return new JobStore(folder, await storing(path, () => Ledger.open(path, job, access)));
  }

  private constructor(folder: string, ledger: Ledger) {
    this.#folder = folder;
    this.ledger = ledger;
  }

  /** Folder of the files that hold the rows of a query. */
  get queryFolder(): string {
    return join(this.#folder, "input");
  }

  /**
   * Writes the checkpoint of a batch beside that of the batch before, which is valid until the ledger names the new one.
   *
   * @param known a checkpoint of the same rows: only newer rows are written
   */
  async writeCheckpoint(
    sequence: number,
    snapshot: Snapshot,
    known: WrittenFolder | undefined,
  ): Promise<WrittenFolder> {
    const name = `${CHECKPOINT}${String(sequence).padStart(8, "0")}`;
    this.#written = await writeFolder(this.#folder, snapshot, known, name);
    return this.#written;
  }

  /** The checkpoint that the ledger names. @throws DataError E309, E351, E352 if it cannot be read. */
  async readCheckpoint<Description>({
    file,
    sha256,
  }: NonNullable<Batch["checkpoint"]>): Promise<StoredCheckpoint<Description>> {
    const stored = await readCheckpoint<Description>(this.#folder, file);
    if (stored.written.digest === sha256) return stored;
    throw checkpointDamaged("the ledger names another one", join(this.#folder, file));
  }

  /** Removes all checkpoints but the one that the ledger names, and rows that only they had. */
  async removeOldCheckpoints(): Promise<void> {
    const last = this.ledger.batch?.checkpoint?.file;
    for (const name of await readdir(this.#folder))
      if (name.startsWith(CHECKPOINT) && name !== last) await rm(join(this.#folder, name), { force: true });
    const written = this.#written;
    if (written && written.stateFile === last) await removeOthers(this.#folder, written);
  }

  [Symbol.dispose](): void {
    this.ledger[Symbol.dispose]();
  }
}
