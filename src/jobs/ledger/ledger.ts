/** The ledger of a job: what was done, and what it was done with. */
import { basename, dirname, join } from "node:path";
import { syncFolder } from "../../files/durable.ts";
import { namesIn } from "../../files/folders.ts";
import { pendingFile } from "../../files/pending_file.ts";
import { journalOlder, ledgerNewer, ledgerOfOther } from "../errors.ts";
import { LedgerFile, LedgerTable } from "./ledger_table.ts";
import type {
  Batch,
  BeginRecord,
  Committed,
  ConsumedInput,
  Counts,
  EndedRun,
  PreparedBatch,
  Rebuilt,
  SkippedInput,
  StagedOutput,
  TakenInput,
  Universe,
  WaitingRebuild,
} from "./records.ts";
import { TimeTable } from "./time_table.ts";

/** "flgr" in the header of the file. */
const APPLICATION_ID = 0x666c6772;
const VERSION = 1;
/** What earlier versions had. */
const JOURNAL = "journal.jsonl";
/** EXTRA syncs the folder, too: without it a loss of power could take back what is prepared and leave its results published. */
const PRAGMAS = {
  read: "PRAGMA query_only = ON",
  write: "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA",
};

/** What is read when a ledger is opened: it does not grow with the history. */
const HEAD = [
  "begin",
  "universe",
  "batch",
  "committed",
  "rebuilt",
  "waiting",
  "digested",
  "lastRun",
  "lastSuccess",
] as const;
type Head = Pick<Ledger, (typeof HEAD)[number]>;

/** To repair is to write, also in the place of a journal of an earlier version. */
export type Access = "read" | "write" | "repair";

/** Only the process with the lock writes. What a method writes is one transaction, and on the disk when it returns. */
export class Ledger implements Disposable {
  begin: BeginRecord | null = null;
  universe: Universe | null = null;
  /** The last batch whose results are in the sink or will be. */
  batch: Batch | null = null;
  committed: Committed = { sequence: 0, files: 0, rows: 0, outputs: 0, lastTime: null };
  /** Results of a rebuild that the sink may not show yet. */
  rebuilt: Rebuilt | null = null;
  waiting: WaitingRebuild | null = null;
  /** Columns that digests of times are of, in their order; those that are read later are added. */
  digested: readonly string[] = [];
  lastRun: EndedRun | null = null;
  lastSuccess: EndedRun | null = null;
  /** By path. */
  readonly consumed: LedgerTable<ConsumedInput>;
  /** Those of a pending batch may be missing in the sink. */
  readonly outputs: LedgerTable<StagedOutput>;
  /** Those of `rebuilt`. */
  readonly rebuiltOutputs: LedgerTable<StagedOutput>;
  readonly times: TimeTable;
  /** By path. */
  readonly skipped: LedgerTable<SkippedInput>;
  readonly #file: LedgerFile;
  readonly #head: LedgerTable<unknown>;
  /** Another one once another process has written. */
  readonly #dataVersion: unknown;

  /**
   * Opens the ledger of a job. Where there is none, it is created for writing, and empty for reading. Even a reader takes back
   * what a killed process did not commit.
   *
   * @throws DataError E360 for a file that is damaged, no ledger, of a later version or of another job; UsageError E531 for a
   *   journal of an earlier version in its place; ResourceError and system errors.
   */
  static async open(path: string, job: string, access: Access): Promise<Ledger> {
    const names = await namesIn(dirname(path));
    const isThere = names.includes(basename(path));
    if (!isThere && access !== "repair" && names.includes(JOURNAL))
      throw journalOlder(join(dirname(path), JOURNAL), job);
    if (!isThere && access !== "read") {
      const { temporaryPath, commit, abort } = await pendingFile(path);
      try {
        Ledger.#in(temporaryPath, "rwc", job)[Symbol.dispose]();
        await commit();
      } finally {
        await abort();
      }
      await syncFolder(dirname(path));
    }
    const ledger = Ledger.#in(path, isThere || access !== "read" ? "rw" : "memory", job);
    ledger.#file.exec(PRAGMAS[access === "read" ? "read" : "write"]);
    return ledger;
  }

  static #in(path: string, mode: "rw" | "rwc" | "memory", job: string): Ledger {
    const file = new LedgerFile(path, mode);
    try {
      return file.transaction("DEFERRED", () => new Ledger(file, job, mode !== "rw"));
    } catch (error) {
      file.close();
      throw error;
    }
  }

  private constructor(file: LedgerFile, job: string, isNew: boolean) {
    if (isNew) file.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${VERSION}`);
    if (file.value("PRAGMA application_id") !== APPLICATION_ID)
      throw file.damaged("it is none of factorloom");
    if ((file.value("PRAGMA user_version") as number) > VERSION) throw ledgerNewer(file.path);
    this.#file = file;
    this.#dataVersion = file.value("PRAGMA data_version");
    this.consumed = new LedgerTable(file, "consumed", isNew);
    this.outputs = new LedgerTable(file, "output", isNew);
    this.rebuiltOutputs = new LedgerTable(file, "rebuilt_output", isNew);
    this.skipped = new LedgerTable(file, "skipped", isNew);
    this.times = new TimeTable(file, isNew);
    this.#head = new LedgerTable(file, "head", isNew);
    if (isNew) this.#head.put("job", job);
    const owner = this.#head.get("job");
    if (owner !== job) throw ledgerOfOther(file.path, String(owner), job);
    for (const name of HEAD) {
      const value = this.#head.get(name);
      if (value !== null) Object.assign(this, { [name]: value });
    }
  }

  /** Of the last batch; 0 before the first. */
  get sequence(): number {
    return this.batch?.sequence ?? 0;
  }

  /** Whether the results of the last batch may be missing in the sink. */
  get isPending(): boolean {
    return this.sequence !== this.committed.sequence;
  }

  /** The last evaluated time. */
  get lastTime(): bigint | null {
    return this.batch === null ? null : BigInt(this.batch.lastTime);
  }

  /** Of all batches, also while the last one is pending. */
  get counts(): Counts {
    const { files, rows, outputs } = this.committed;
    const added = this.isPending ? this.batch! : { files: 0, rows: 0, outputs: 0 };
    return { files: files + added.files, rows: rows + added.rows, outputs: outputs + added.outputs };
  }

  keep(record: Partial<Pick<Head, "begin" | "universe" | "waiting">>): void {
    this.#write(record);
  }

  passOver(input: SkippedInput): void {
    this.#write({}, () => this.skipped.put(input.path, input));
  }

  /** Results and checkpoint of the next batch are on the disk: it will be completed. */
  prepare({ outputs, rows, checkpoint, lastTime, ...taken }: PreparedBatch): void {
    const counts = { files: taken.inputs.length, rows, outputs: outputs.length };
    const batch = { sequence: this.sequence + 1, ...counts, lastTime, checkpoint };
    this.#write({ batch, digested: taken.digested }, () => {
      this.#take(taken);
      for (const output of outputs) this.outputs.put(null, output);
    });
  }

  /** Notes files that brought nothing new, or nothing that changes results. */
  take(taken: TakenInput): void {
    this.#write({ digested: taken.digested }, () => this.#take(taken));
  }

  /** Rows of before have changed, and no result: the state is made again from the input. */
  takeChanged(taken: TakenInput, universe: Universe): void {
    const batch = { ...this.batch!, checkpoint: null };
    this.#write({ batch, universe, digested: taken.digested, waiting: null }, () => this.#take(taken));
  }

  /** The results of the last batch are in the sink. */
  commit(): void {
    const { sequence, lastTime } = this.batch!;
    this.#write({ committed: { sequence, lastTime, ...this.counts } });
  }

  /** New results for all rows are on the disk: they will replace those of before. */
  prepareRebuild(
    made: Omit<Rebuilt, "sequence" | "outputs">,
    outputs: readonly StagedOutput[],
    taken: TakenInput,
  ): void {
    const rebuilt = { sequence: this.sequence + 1, ...made, outputs: outputs.length };
    this.#write({ rebuilt, digested: taken.digested }, () => {
      this.#take(taken);
      this.rebuiltOutputs.clear();
      for (const output of outputs) this.rebuiltOutputs.put(null, output);
    });
  }

  /** The sink shows the results of the rebuild. */
  commitRebuild(): void {
    const { sequence, begin, universe, rows, outputs } = this.rebuilt!;
    const batch: Batch = { ...this.batch!, sequence, files: 0, rows: 0, outputs: 0, checkpoint: null };
    const { files } = this.counts;
    const committed = { sequence, files, rows, outputs, lastTime: this.batch!.lastTime };
    this.#write({ begin, universe, batch, committed, rebuilt: null, waiting: null }, () =>
      this.outputs.takeAllOf(this.rebuiltOutputs),
    );
  }

  /** A run has ended. It replaces the one before: however long a job waits for input, its ledger does not grow. */
  endRun(run: EndedRun): void {
    this.#write({ lastRun: run, ...(run.outcome === "done" && { lastSuccess: run }) });
  }

  /** Reads all of the file. @throws DataError E360 for damage. */
  verify(): void {
    const found = this.#file.value("PRAGMA integrity_check(1)");
    if (found !== "ok") throw this.#file.damaged(String(found));
    for (const table of [this.consumed, this.outputs, this.rebuiltOutputs, this.skipped, this.#head])
      for (const _ of table.pages());
    for (const _ of this.times.from(-(2n ** 63n)));
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  #take({ inputs, times }: TakenInput): void {
    for (const input of inputs) {
      this.consumed.put(input.path, input);
      this.skipped.remove(input.path);
    }
    for (const time of times) this.times.put(time);
  }

  #write(changed: Partial<Head>, putRows = () => {}): void {
    this.#file.transaction("IMMEDIATE", () => {
      if (this.#file.value("PRAGMA data_version") !== this.#dataVersion)
        throw this.#file.damaged("another process has changed it meanwhile");
      putRows();
      for (const [name, value] of Object.entries(changed)) this.#head.put(name, value);
    });
    Object.assign(this, changed);
  }
}
