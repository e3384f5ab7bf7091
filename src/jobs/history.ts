/** What the records of a journal add up to. */
import type {
  BeginRecord,
  ConsumedInput,
  JournalRecord,
  PreparedRecord,
  RanRecord,
  SkippedRecord,
  StagedOutput,
  UniverseRecord,
} from "./records.ts";

export class JobHistory {
  begin: BeginRecord | null = null;
  universe: UniverseRecord | null = null;
  /** The last input whose results are, or will be, in the sink. */
  prepared: PreparedRecord | null = null;
  /** Its results may not be in the sink yet. */
  isPending = false;
  /** The state of the last checkpoint has other lanes than the universe. */
  universeIsNewer = false;
  /** In the order in which they were evaluated. */
  readonly consumed: ConsumedInput[] = [];
  /** All that is in the sink; what `prepared` gave may not be there yet. */
  readonly outputs: StagedOutput[] = [];
  readonly skipped = new Map<string, SkippedRecord>();
  rows = 0;
  lastRun: RanRecord | null = null;
  lastSuccess: RanRecord | null = null;
  readonly #consumedByPath = new Map<string, ConsumedInput>();

  constructor(records: Iterable<JournalRecord> = []) {
    for (const record of records) this.add(record);
  }

  get sequence(): number {
    return this.prepared?.sequence ?? 0;
  }

  /** The last time whose rows were evaluated. */
  get lastTime(): bigint | null {
    return this.prepared ? BigInt(this.prepared.input.lastTime) : null;
  }

  inputAt(path: string): ConsumedInput | undefined {
    return this.#consumedByPath.get(path);
  }

  add(record: JournalRecord): void {
    switch (record.kind) {
      case "begin":
        this.begin = record;
        break;
      case "universe":
        this.universe = record;
        this.universeIsNewer = true;
        break;
      case "prepared":
        this.#addPrepared(record);
        break;
      case "committed":
        this.isPending = false;
        break;
      case "skipped":
        this.skipped.set(record.path, record);
        break;
      case "ran":
        this.lastRun = record;
        if (record.outcome === "done") this.lastSuccess = record;
        break;
    }
  }

  #addPrepared(record: PreparedRecord): void {
    this.prepared = record;
    this.isPending = true;
    this.universeIsNewer = false;
    this.consumed.push(record.input);
    this.outputs.push(...record.outputs);
    this.#consumedByPath.set(record.input.path, record.input);
    this.rows += record.rows;
  }
}
