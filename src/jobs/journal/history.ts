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

export class JobHistory {
  begin: BeginRecord | null = null;
  universe: UniverseRecord | null = null;
  /** The last batch whose results are in the sink or will be. */
  prepared: PreparedRecord | null = null;
  /** Whether the results of `prepared` may be missing in the sink. */
  isPending = false;
  /** Whether the last checkpoint has other lanes than the universe. */
  universeIsNewer = false;
  /** By path, in the order of evaluation. */
  readonly consumed = new Map<string, ConsumedInput>();
  /** All outputs; those of a pending `prepared` may be missing in the sink. */
  readonly outputs: StagedOutput[] = [];
  readonly skipped = new Map<string, SkippedRecord>();
  /** What the sink certainly holds. */
  committed = { files: 0, rows: 0, lastTime: null as bigint | null };
  lastRun: RanRecord | null = null;
  lastSuccess: RanRecord | null = null;

  get sequence(): number {
    return this.prepared?.sequence ?? 0;
  }

  /** The last evaluated time. */
  get lastTime(): bigint | null {
    return this.prepared ? BigInt(this.prepared.inputs.at(-1)!.lastTime) : null;
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
        this.prepared = record;
        this.isPending = true;
        this.universeIsNewer = false;
        this.outputs.push(...record.outputs);
        for (const input of record.inputs) this.consumed.set(input.path, input);
        break;
      case "committed":
        if (this.isPending) this.#commit(this.prepared!);
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

  #commit({ inputs, rows }: PreparedRecord): void {
    const { files, rows: before } = this.committed;
    this.isPending = false;
    this.committed = { files: files + inputs.length, rows: before + rows, lastTime: this.lastTime };
  }
}
