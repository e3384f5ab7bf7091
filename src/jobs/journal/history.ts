/** The state of a job that follows from the records of its journal. */
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

export interface Committed {
  readonly files: number;
  readonly rows: number;
  readonly lastTime: bigint | null;
}

export class JobHistory {
  begin: BeginRecord | null = null;
  universe: UniverseRecord | null = null;
  /** The last batch whose results are in the sink or will be. */
  prepared: PreparedRecord | null = null;
  /** Whether the results of `prepared` may be missing in the sink. */
  isPending = false;
  /** Whether the last checkpoint has other lanes than the universe. */
  universeIsNewer = false;
  /** In the order of evaluation. */
  readonly consumed: ConsumedInput[] = [];
  /** All outputs; those of a pending `prepared` may be missing in the sink. */
  readonly outputs: StagedOutput[] = [];
  readonly skipped = new Map<string, SkippedRecord>();
  /** What the sink certainly holds. */
  committed: Committed = { files: 0, rows: 0, lastTime: null };
  lastRun: RanRecord | null = null;
  lastSuccess: RanRecord | null = null;
  readonly #consumedByPath = new Map<string, ConsumedInput>();

  constructor(records: Iterable<JournalRecord> = []) {
    for (const record of records) this.add(record);
  }

  get sequence(): number {
    return this.prepared?.sequence ?? 0;
  }

  /** The last evaluated time. */
  get lastTime(): bigint | null {
    return this.prepared ? lastTimeOf(this.prepared) : null;
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
        this.#addCommitted();
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
    this.outputs.push(...record.outputs);
    for (const input of record.inputs) {
      this.consumed.push(input);
      this.#consumedByPath.set(input.path, input);
    }
  }

  #addCommitted(): void {
    const { prepared, committed } = this;
    if (prepared === null || !this.isPending) return;
    this.isPending = false;
    this.committed = {
      files: committed.files + prepared.inputs.length,
      rows: committed.rows + prepared.rows,
      lastTime: lastTimeOf(prepared),
    };
  }
}

function lastTimeOf({ inputs }: PreparedRecord): bigint {
  return BigInt(inputs.at(-1)!.lastTime);
}
