import { TaskNumbers } from "../../kernel/run/recurrences.ts";
import { runsOneRow } from "../../kernel/run/row_undo.ts";
import { nothingToRevise, timeNotAfter, timeNotNewest } from "../errors.ts";
import type { InputRow } from "../input/bars.ts";
import { RetainedRows, type SavedRows } from "../input/retained_rows.ts";
import { timeText } from "../input/time_values.ts";
import type { LearnedCosts } from "../latency.ts";
import type { LiveCall } from "../live_params.ts";
import type { LiveProgram, SavedHistory, SessionParts } from "../live_program.ts";
import { retentionFor } from "../options.ts";
import type { RowRun, RunRowOptions } from "../row_runner.ts";
import { NewestState } from "./newest_state.ts";
import type { UpdateReport, WarmUp } from "./update.ts";

/** The progress of a session without the state of its plan. */
export interface SavedProgress {
  readonly kept: SavedRows;
  readonly history: SavedHistory;
  readonly costs: LearnedCosts;
}

/** The progress of a session: its program, its newest row and the retained rows. */
export class SessionRows {
  readonly retained: RetainedRows;
  readonly numbers = new TaskNumbers();
  readonly #parts: SessionParts;
  #current: LiveProgram;
  #lastTime: bigint | null = null;
  /** The call of the newest row; null if that row cannot be replaced. */
  #newestCall: LiveCall | null = null;
  /** The state before the newest row, for when the row after it is interrupted. */
  #before: NewestState;
  /** Why no row can be replaced. */
  #noNewest = "no bar has been pushed";
  /** Why the session cannot go on. */
  #failure: unknown = null;

  constructor(parts: SessionParts, program: LiveProgram) {
    this.#parts = parts;
    this.#current = program;
    this.#before = new NewestState(parts.host.budget, program.plan.evaluation);
    this.retained = new RetainedRows(retentionFor(program.historyNeed, parts.options.retainRows));
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

  /** Runs the next row. */
  async run(row: InputRow, call: LiveCall, options: Partial<RunRowOptions>): Promise<RowRun> {
    await this.#current.runner.finish();
    await this.#addPoint();
    const { input } = this.#current.plan;
    const isKept = await this.#keepNewest(call, options.signal);
    options.signal?.throwIfAborted();
    if (isKept) input.save();
    this.#current.stage(row, call);
    try {
      const run = await this.#current.run(call, options);
      this.retained.append(row, call.values);
      this.#lastTime = row.time;
      this.#newestCall = call;
      this.#before.drop();
      return run;
    } catch (error) {
      if (isKept) {
        input.restore();
        this.#before.markInterrupted();
      } else {
        // Parts of this row may have run over the state before the newest row.
        this.#newestCall = null;
        this.#noNewest = "the last push was interrupted";
        this.#before.drop();
      }
      throw error;
    }
  }

  /** Keeps the state before the newest row if the next one may be aborted; returns whether it can be restored. */
  async #keepNewest(call: LiveCall, signal: AbortSignal | undefined): Promise<boolean> {
    const isRevisable = this.#parts.options.revisable === true && this.#newestCall !== null;
    if (!isRevisable || (!signal && !this.#before.isInterrupted)) return false;
    const { runner, plan } = this.#current;
    const { openPlan } = plan.evaluation;
    await openPlan.idle();
    const { row, generation } = openPlan.next;
    const selection = openPlan.preview(row, { conditions: runner.gates(call) });
    return runsOneRow(selection, row) && this.#before.keep(row, generation);
  }

  /** Restores the state before the newest row if the row after it was interrupted; the newest must then run again. */
  async #goBack(): Promise<void> {
    if (!this.#before.isInterrupted) return;
    await this.#current.plan.evaluation.openPlan.idle();
    this.#before.restore();
  }

  /** Runs the newest row over other input; if that is interrupted, runs it again over its former input. */
  async revise(row: InputRow, call: LiveCall, options: Partial<RunRowOptions>): Promise<RowRun> {
    const { input } = this.#current.plan;
    await this.#goBack();
    // An aborted push may have added a point, of the row as it was.
    this.retained.forgetPoint(this.retained.count);
    input.save();
    this.#current.stage(row, call);
    try {
      const run = await this.#current.run(call, options);
      this.retained.replaceNewest(row, call.values);
      this.#newestCall = call;
      return run;
    } catch (error) {
      input.restore();
      try {
        await this.#current.run(this.#newestCall!, { isRevision: true });
      } catch (failure) {
        this.#failure = failure;
      }
      throw error;
    }
  }

  async #addPoint(): Promise<void> {
    const { count } = this.retained;
    if (!this.retained.beginsPart(count)) return;
    await this.#current.plan.evaluation.openPlan.idle();
    this.retained.addPoint(this.#current.pointBefore(count, this.numbers));
  }

  /** Keeps as many rows as the program needs. */
  keepRowsFor(program: LiveProgram): void {
    this.retained.grow(retentionFor(program.historyNeed, this.#parts.options.retainRows));
  }

  /** Runs rows that came meanwhile through another program and gates to it. */
  async switchTo(warmUp: WarmUp): Promise<UpdateReport> {
    const [before, next] = [this.#current, warmUp.program];
    await before.plan.evaluation.openPlan.idle();
    await this.#goBack();
    const { retained, numbers } = this;
    const { firstOpenRow } = this;
    retained.addPoint(
      before.pointBefore(firstOpenRow, numbers, firstOpenRow === retained.count ? "next" : "newest"),
    );
    await warmUp.run(() => retained.count);
    next.takeRecurrences(before.recurrences(numbers), numbers);
    warmUp.finish();
    next.updateSymbols();
    this.#current = next;
    this.#newestCall = this.#newestCall && warmUp.lastCall;
    this.#before.close();
    this.#before = new NewestState(this.#parts.host.budget, next.plan.evaluation);
    await before.plan.close();
    return { rowCount: warmUp.rowCount, shortOfHistory: next.inexactFactorsAt(firstOpenRow) };
  }

  /** Cancels running work and frees the memory. May be called twice. */
  async close(): Promise<void> {
    this.#before.close();
    await this.#current.plan.close();
  }

  /** The first row that may still be run: the newest if it may be revised, else the next. */
  get firstOpenRow(): number {
    const { count, oldest } = this.retained;
    const isOpen = this.#parts.options.revisable === true && this.#newestCall !== null && oldest < count;
    return isOpen ? count - 1 : count;
  }

  save(): SavedProgress {
    return {
      kept: this.retained.save(),
      history: this.#current.saveHistory(this.numbers),
      costs: this.#current.plan.latency.save(),
    };
  }

  /** Continues from a checkpoint. */
  restore(lastTime: bigint | null, { kept, history, costs }: SavedProgress): void {
    if (this.#parts.options.retainRows === undefined) this.retained.grow(kept.wanted);
    const points = this.#current.restoreHistory(history, kept.points, this.numbers);
    this.retained.restore({ ...kept, points });
    this.#current.plan.latency.restore(costs);
    this.#lastTime = lastTime;
    this.#newestCall = null;
    this.#noNewest = "the session has gone on from a checkpoint";
    this.#before.drop();
  }

  /** @throws DataError E371 unless each row is later than the row before it. */
  checkTimes(rows: readonly InputRow[]): void {
    let last = this.#lastTime;
    for (const { time } of rows) {
      if (last !== null && time <= last) throw timeNotAfter(this.#textOf(time), this.#textOf(last));
      last = time;
    }
  }

  /** @throws DataError E376, E378 for rows that cannot replace the newest one. */
  checkNewest(rows: readonly InputRow[]): void {
    if (this.#newestCall === null) throw nothingToRevise(this.#noNewest);
    const [row] = rows;
    if (rows.length !== 1 || !row) throw nothingToRevise(`it takes one bar, got ${rows.length}`);
    if (row.time !== this.#lastTime)
      throw timeNotNewest(this.#textOf(row.time), this.#textOf(this.#lastTime!));
  }

  #textOf(time: bigint): string {
    return timeText(time, this.#parts.time);
  }
}
