/** The files of a job: its journal, its checkpoints, the rows of its query. */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { checkpointDamaged } from "../../checkpoint/errors.ts";
import { readCheckpoint, type StoredCheckpoint } from "../../checkpoint/read_checkpoint.ts";
import type { Snapshot } from "../../checkpoint/state_file.ts";
import { removeOthers, type WrittenFolder, writeFolder } from "../../checkpoint/write_checkpoint.ts";
import { writeDurably } from "../../files/durable.ts";
import { JobHistory } from "./history.ts";
import { Journal, readJournal } from "./journal.ts";
import type { JournalRecord, PreparedRecord, RanRecord } from "./records.ts";
import { storing } from "./storing.ts";

/** Reads a job's journal without changing it. @throws as `JobStore.read`. */
export async function readHistory(folder: string, job: string): Promise<JobHistory> {
  return (await JobStore.read(folder, job)).history;
}

/**
 * The last run and the last success, as an array, of a job whose last run committed nothing. Such runs replace each other:
 * however long a job waits for input or fails, its journal does not grow. The next run that commits something journals them.
 */
const IDLE_RUNS = "idle_runs.json";

/** The idle runs, which came after those of the journal. A file that is lost or damaged only forgets them. */
async function readIdleRuns(folder: string): Promise<readonly RanRecord[]> {
  const read = readFile(join(folder, IDLE_RUNS), "utf8").then((text) => JSON.parse(text) as unknown);
  const found = await read.catch(() => []);
  return Array.isArray(found) ? (found as RanRecord[]) : [];
}

/** What the names of checkpoints begin with; the number of the batch follows. */
const CHECKPOINT = "checkpoint-";

export class JobStore {
  readonly history: JobHistory;
  readonly #folder: string;
  /** Null if it is only read. */
  readonly #journal: Journal | null;
  /** Those in the file of idle runs. */
  #idle: readonly RanRecord[];
  /** The last checkpoint that was written. */
  #written: WrittenFolder | null = null;

  /** @throws DataError E360 for a damaged journal, ResourceError E442 for a system error. */
  static async open(folder: string, job: string): Promise<JobStore> {
    return await JobStore.#load(folder, job, Journal.open);
  }

  /** The same without changing anything: the store takes no records then. */
  static async read(folder: string, job: string): Promise<JobStore> {
    return await JobStore.#load(folder, job, async (path, onRecord) => {
      await readJournal(path, onRecord);
      return null;
    });
  }

  static async #load(
    journals: string,
    job: string,
    open: (path: string, onRecord: (record: JournalRecord) => void) => Promise<Journal | null>,
  ): Promise<JobStore> {
    const folder = join(journals, job);
    const path = join(folder, "journal.jsonl");
    const history = new JobHistory();
    const journal = await storing(path, () => open(path, (record) => history.add(record)));
    const idle = await readIdleRuns(folder);
    for (const run of idle) history.add(run);
    return new JobStore(folder, journal, history, idle);
  }

  private constructor(
    folder: string,
    journal: Journal | null,
    history: JobHistory,
    idle: readonly RanRecord[],
  ) {
    this.#idle = idle;
    this.#folder = folder;
    this.#journal = journal;
    this.history = history;
  }

  /** Folder of the files that hold the rows of a query. */
  get queryFolder(): string {
    return join(this.#folder, "input");
  }

  /** Adds a record durably. */
  async append(record: JournalRecord): Promise<void> {
    await storing(this.#folder, () => this.#keep(record));
    this.history.add(record);
  }

  async #keep(record: JournalRecord): Promise<void> {
    if (record.kind === "ran" && record.files === 0) return await this.#keepIdle(record);
    if (record.kind === "ran" && this.#idle.length > 0) {
      for (const idle of this.#idle) await this.#journal!.append(idle);
      await rm(join(this.#folder, IDLE_RUNS), { force: true });
      this.#idle = [];
    }
    await this.#journal!.append(record);
  }

  async #keepIdle(run: RanRecord): Promise<void> {
    const { lastSuccess } = this.history;
    this.#idle = run.outcome === "done" || lastSuccess === null ? [run] : [lastSuccess, run];
    await writeDurably(join(this.#folder, IDLE_RUNS), [Buffer.from(JSON.stringify(this.#idle))]);
  }

  /**
   * Writes the checkpoint of a batch beside that of the batch before, which is valid until the journal names the new one.
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

  /** The checkpoint that the journal names. @throws DataError E309, E351, E352 if it cannot be read. */
  async readCheckpoint<Description>({
    file,
    sha256,
  }: PreparedRecord["checkpoint"]): Promise<StoredCheckpoint<Description>> {
    const stored = await readCheckpoint<Description>(this.#folder, file);
    if (stored.written.digest === sha256) return stored;
    throw checkpointDamaged("the journal names another one", join(this.#folder, file));
  }

  /** Removes all checkpoints but the one that the journal names, and rows that only they had. */
  async removeOldCheckpoints(): Promise<void> {
    const last = this.history.prepared?.checkpoint.file;
    for (const name of await readdir(this.#folder))
      if (name.startsWith(CHECKPOINT) && name !== last) await rm(join(this.#folder, name), { force: true });
    const written = this.#written;
    if (written && written.stateFile === last) await removeOthers(this.#folder, written);
  }

  async close(): Promise<void> {
    await this.#journal?.close();
  }
}
