/** The files of a job: its journal, its checkpoints, the rows of its query. */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeDurably } from "../../files/durable.ts";
import { digestOf, readFully } from "../../files/large_bytes.ts";
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

type Checkpoint = PreparedRecord["checkpoint"];

const CHECKPOINTS_KEPT = 2;

export class JobStore {
  readonly history: JobHistory;
  readonly #folder: string;
  /** Null if it is only read. */
  readonly #journal: Journal | null;
  /** Those in the file of idle runs. */
  #idle: readonly RanRecord[];

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

  async writeCheckpoint(sequence: number, bytes: Uint8Array): Promise<Checkpoint> {
    const file = `checkpoint-${String(sequence).padStart(8, "0")}.bin`;
    const sha256 = digestOf(bytes).toString("hex");
    await storing(this.#folder, () => writeDurably(join(this.#folder, file), [bytes]));
    return { file, sha256 };
  }

  /** The bytes of a checkpoint; null if they are missing or damaged. */
  async readCheckpoint({ file, sha256 }: Checkpoint): Promise<Uint8Array | null> {
    const bytes = await readFully(join(this.#folder, file)).catch(() => null);
    return bytes !== null && digestOf(bytes).toString("hex") === sha256 ? bytes : null;
  }

  /** Removes outdated and unfinished checkpoints. */
  async removeOldCheckpoints(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.startsWith("checkpoint-")).sort();
    const last = this.history.prepared?.checkpoint.file ?? "";
    const finished = names.filter((name) => name.endsWith(".bin") && name <= last);
    const kept = new Set(finished.slice(-CHECKPOINTS_KEPT));
    for (const name of names) if (!kept.has(name)) await rm(join(this.#folder, name), { force: true });
  }

  async close(): Promise<void> {
    await this.#journal?.close();
  }
}
