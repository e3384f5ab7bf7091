import { TaskNumbers } from "../kernel/recurrences.ts";
import { type InputRow, timeText } from "./bars.ts";
import { nothingToRevise, timeNotAfter, timeNotNewest } from "./errors.ts";
import type { GivenParams, LiveCall } from "./live_params.ts";
import type { LiveProgram, SessionParts } from "./live_program.ts";
import { retainedRowsFor } from "./options.ts";
import { RetainedRows } from "./retained_rows.ts";
import type { RowRun, RunRowOptions } from "./row_runner.ts";
import type { WarmUp } from "./update.ts";

/** A row that stands, as long as it may be replaced. */
interface NewestRow {
  readonly call: LiveCall;
}

/** The params of a row: as the push gave them, and resolved. */
export interface RowParams {
  readonly given: GivenParams | undefined;
  readonly call: LiveCall;
}

/** How far a session has come: its program, the newest row, and the rows that are kept. */
export class SessionRows {
  readonly retained: RetainedRows;
  readonly numbers = new TaskNumbers();
  readonly #parts: SessionParts;
  #current: LiveProgram;
  #lastTime: bigint | null = null;
  #newest: NewestRow | null = null;
  /** Why no row may be replaced. */
  #noNewest = "no bar has been pushed";
  /** Why the session cannot go on. */
  #failure: unknown = null;

  constructor(parts: SessionParts, program: LiveProgram) {
    this.#parts = parts;
    this.#current = program;
    this.retained = new RetainedRows(parts.options.retainRows ?? retainedRowsFor(program.plan.lookbackRows));
  }

  get current(): LiveProgram {
    return this.#current;
  }

  /** Time of the newest row; null before the first. */
  get lastTime(): bigint | null {
    return this.#lastTime;
  }

  /** Why the session cannot go on; null if it can. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Runs a row behind the newest. */
  async run(row: InputRow, { call, given }: RowParams, options: Partial<RunRowOptions>): Promise<RowRun> {
    await this.#noteRecurrences();
    this.#current.stage(row, call);
    try {
      const run = await this.#current.run(call, options);
      this.retained.append(row, given, this.#symbolCount);
      this.#lastTime = row.time;
      this.#newest = { call };
      return run;
    } catch (error) {
      // What the newest row started from is gone: parts of this one may have run.
      this.#newest = null;
      this.#noNewest = "the last push was cut off";
      throw error;
    }
  }

  /** Runs the newest row again; if that is cut off, once more as it was. */
  async revise(row: InputRow, { call, given }: RowParams, options: Partial<RunRowOptions>): Promise<RowRun> {
    const { input } = this.#current.plan;
    input.save();
    this.#current.stage(row, call);
    try {
      const run = await this.#current.run(call, options);
      this.retained.replaceNewest(row, given, this.#symbolCount);
      this.#newest = { call };
      return run;
    } catch (error) {
      input.restore();
      try {
        await this.#current.run(this.#newest!.call, { isRevision: true });
      } catch (failure) {
        this.#failure = failure;
      }
      throw error;
    }
  }

  async #noteRecurrences(): Promise<void> {
    if (!this.retained.beginsPart) return;
    await this.#current.plan.evaluation.openPlan.idle();
    this.retained.noteRecurrences(this.#current.recurrences(this.numbers));
  }

  /** Lets another program take over, once it has run the rows that came meanwhile. */
  async switchTo(warmUp: WarmUp): Promise<void> {
    const [before, next] = [this.#current, warmUp.program];
    await before.plan.evaluation.openPlan.idle();
    await warmUp.run(() => this.retained.count);
    next.takeRecurrences(before.recurrences(this.numbers), this.numbers);
    if (this.#newest)
      next.takeRecurrences(before.recurrences(this.numbers, "newest"), this.numbers, "newest");
    next.noteSymbols();
    this.#current = next;
    this.#newest = this.#newest && warmUp.lastCall && { call: warmUp.lastCall };
    await before.plan.close();
  }

  /** Goes on behind a checkpoint. */
  goOnAfter(lastTime: bigint | null): void {
    this.retained.clear();
    this.#lastTime = lastTime;
    this.#newest = null;
    this.#noNewest = "the session has gone on from a checkpoint";
  }

  /** @throws DataError E371 for a row that does not come after all before it. */
  checkTimes(rows: readonly InputRow[]): void {
    let last = this.#lastTime;
    for (const { time } of rows) {
      if (last !== null && time <= last) throw timeNotAfter(this.#textOf(time), this.#textOf(last));
      last = time;
    }
  }

  /** @throws DataError E371, E376 for rows that cannot replace the newest one. */
  checkNewest(rows: readonly InputRow[]): void {
    if (this.#newest === null) throw nothingToRevise(this.#noNewest);
    const [row] = rows;
    if (rows.length !== 1 || !row) throw nothingToRevise(`it takes one bar, got ${rows.length}`);
    if (row.time !== this.#lastTime)
      throw timeNotNewest(this.#textOf(row.time), this.#textOf(this.#lastTime!));
  }

  #textOf(time: bigint): string {
    return timeText(time, this.#parts.time);
  }

  get #symbolCount(): number {
    return this.#parts.lanes.symbols.length;
  }
}
