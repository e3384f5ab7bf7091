import { type RecurrencePoint, withLanes } from "../../checkpoint/state_file.ts";
import { suppressUnhandled, unlessAborted } from "../../evaluation/awaiting.ts";
import { OVERLAPPING_BLOCKS_MAX } from "../../execution/executor_pool.ts";
import type { OpenPlan } from "../../execution/open_plan.ts";
import type { ShortOfHistory } from "../../state/history.ts";
import { RetainedRows } from "../../state/retained_rows.ts";
import { barBehindFailure, nothingToRevise, paramsDiffer, sessionClosed } from "../errors.ts";
import type { InputRow } from "../input/bars.ts";
import type { LiveCall } from "../live_params.ts";
import { ROW_SLOTS } from "../live_plan.ts";
import type { LiveProgram, SessionParts } from "../live_program.ts";
import type { RanRow, RowRun, RunRowOptions } from "../row_runner.ts";
import { KeptMemory } from "./kept_memory.ts";
import { RowTimes } from "./row_times.ts";
import { inputRowOf, type SavedProgress, type StoredSession } from "./session_checkpoint.ts";
import { type UpdateReport, WarmUp } from "./update.ts";
import { withGrace } from "./with_grace.ts";

/** A row that has begun, and how it was run. */
export interface BegunRow {
  readonly slot: number;
  readonly ran: Promise<RowRun>;
}

interface RowUnderWay {
  readonly row: InputRow;
  readonly call: LiveCall;
  readonly slot: number;
  /** Resolves when the row has ended. */
  readonly ended: Promise<void>;
  readonly hasFailed: (error: unknown) => void;
  /** Why the row is not taken; null while it may be. */
  failure: unknown;
}

/** What the push of a row says and learns about it. */
export interface RowEvents {
  /** Throws if the row must not begin any more. */
  readonly mayBegin: () => void;
  /** The row, or one ahead of it, has failed: it is not taken. */
  readonly hasFailed: (error: unknown) => void;
}

/** The progress of a session: its program, its newest row and the retained rows. */
export class SessionRows {
  readonly retained: RetainedRows<InputRow>;
  readonly memory: KeptMemory;
  readonly times: RowTimes;
  readonly #parts: SessionParts;
  #current: LiveProgram;
  /** The newest row; null if it cannot be replaced. */
  #newest: Pick<RowUnderWay, "row" | "call" | "slot"> | null = null;
  /** Rows that have begun and not ended, in order. */
  readonly #underWay: RowUnderWay[] = [];
  /** Slots to be used next, in this order: that of the newest row comes last. */
  #freeSlots: number[] = [...SLOTS];
  #slotFreed = Promise.withResolvers<void>();
  /** Resolves when the state has been made again, after the last failure of a row. */
  #madeAgain: Promise<void> = Promise.resolve();
  /** Why no row can be replaced. */
  #noNewest = "no bar has been pushed";
  /** Why the session cannot go on. */
  #failure: unknown = null;

  constructor(parts: SessionParts, program: LiveProgram) {
    this.#parts = parts;
    this.#current = program;
    this.times = new RowTimes(parts.time.type, parts.stretchOf);
    this.retained = new RetainedRows(program.retention(parts.options.retainRows), parts.lanes.laneCount);
    this.memory = new KeptMemory(parts, this.retained);
  }

  get current(): LiveProgram {
    return this.#current;
  }

  /** Why the session cannot go on; null if it can. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Why no row can be run; null if rows can. An update may mend it if the session can go on. */
  get refusal(): unknown {
    return this.#failure ?? this.#openPlan.refusal;
  }

  /**
   * Stages the next row and begins to run it, when fewer than `OVERLAPPING_BLOCKS_MAX` rows are under way. Await rows in
   * order; then `release` their slots.
   */
  async begin(
    row: InputRow,
    call: LiveCall,
    options: Partial<RunRowOptions>,
    { mayBegin, hasFailed }: RowEvents,
  ): Promise<BegunRow> {
    // Rows may fail between the last look for room and this one.
    do await unlessAborted(this.#room(row.time, options.signal), options.signal);
    while (this.refusal === null && !this.#hasRoom);
    if (this.refusal !== null) throw this.refusal;
    mayBegin();
    // Only now is it known which row is before it.
    this.times.expectLater(row.time, this.#underWay.at(-1)?.row.time ?? this.times.last);
    if (this.times.restartsAt(row.time)) {
      await this.#restart();
      mayBegin();
    }
    this.times.judged = row.time;
    const slot = this.#freeSlots.shift()!;
    if (this.#underWay.length === 0) this.#addPoint();
    this.#current.stage(slot, row, call);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const underWay: RowUnderWay = { row, call, slot, ended, hasFailed, failure: null };
    const running = this.#run(call, slot, options);
    this.#underWay.push(underWay);
    return { slot, ran: suppressUnhandled(this.#complete(underWay, running).finally(end)) };
  }

  async #run(call: LiveCall, slot: number, options: Partial<RunRowOptions>): Promise<RowRun> {
    const run = (signal: AbortSignal | undefined) => this.#current.run(call, slot, { ...options, signal });
    return await withGrace(run, options.signal);
  }

  /** The results of a row have been read: its slot may be used again, after the others. */
  release(slot: number): void {
    this.#freeSlots.push(slot);
    this.#slotFreed.resolve();
  }

  /** Resolves when another row may begin. Once the signal is aborted it begins nothing: the row behind looks for room. */
  async #room(time: bigint, signal: AbortSignal | undefined): Promise<void> {
    const runsAlone = () => this.#needsRecursions || this.times.restartsAt(time);
    while (this.#underWay.length > (runsAlone() ? 0 : OVERLAPPING_BLOCKS_MAX - 1))
      await this.#underWay[0]!.ended;
    await this.#madeAgain;
    if (!this.#isInOrder) await this.#openPlan.idle();
    signal?.throwIfAborted();
    if (this.#underWay.length === 0) await this.#current.runner.finish();
    signal?.throwIfAborted();
    if (this.#needsRecursions) await this.#endRest(() => signal?.aborted === true);
    signal?.throwIfAborted();
    await this.#freeSlotsOf(1);
  }

  /** The next row has no history. */
  async #restart(): Promise<void> {
    const { plan, runner } = this.#current;
    await plan.evaluation.restart();
    runner.forget();
    this.retained.forget(0);
    this.#current.setHistory(0, []);
    this.#newest = null;
    this.#noNewest = "windows have restarted after the newest bar";
  }

  get #hasRoom(): boolean {
    return this.#isInOrder && this.#freeSlots.length > 0;
  }

  /** Whether the plan runs the rows under way and nothing else: the next row is then the one behind them. */
  get #isInOrder(): boolean {
    return this.#openPlan.canFollow(this.#underWay.length);
  }

  get #openPlan(): OpenPlan {
    return this.#current.plan.evaluation.openPlan;
  }

  async #complete(underWay: RowUnderWay, running: Promise<RowRun>): Promise<RowRun> {
    const { row, call, slot } = underWay;
    try {
      const run = await running;
      this.#underWay.shift();
      this.retained.append(row, call.values);
      this.times.last = row.time;
      this.#newest = { row, call, slot };
      if (this.#underWay.length > 0) this.#addPoint();
      return run;
    } catch (error) {
      this.#failFrom(underWay, error);
      await this.#madeAgain;
      // Rows behind the one that failed get its error from the plan.
      throw underWay.failure === error ? error : (this.refusal ?? underWay.failure);
    }
  }

  /** Whether recursions that may rest must have run all rows before the next one begins, as their values are kept. */
  get #needsRecursions(): boolean {
    const next = this.retained.count + this.#underWay.length;
    return this.#current.plan.mayRest && (this.retained.beginsPart(next) || this.#openPlan.isRestDue);
  }

  async #endRest(mustStop?: () => boolean): Promise<void> {
    await this.#current.runner.endRest(this.#newest?.slot ?? 0, mustStop);
  }

  /** A row has failed inside: neither it nor those behind it are taken, and the state is made again from the kept rows. */
  #failFrom(first: RowUnderWay, error: unknown): void {
    const at = this.#underWay.indexOf(first);
    if (at < 0) return;
    const rows = this.#underWay.splice(at);
    this.#freeSlots.unshift(...rows.map(({ slot }) => slot));
    this.#slotFreed.resolve();
    for (const row of rows) {
      row.failure = row === first ? error : barBehindFailure(error);
      row.hasFailed(error);
    }
    this.#madeAgain = this.#makeAgain();
  }

  async #makeAgain(): Promise<void> {
    try {
      // Ends parts that do not return, too.
      await this.#openPlan.idle();
      while (this.#underWay.length > 0) await this.#underWay[0]!.ended;
      await this.#freeSlotsOf(SLOTS.length);
      if (this.refusal === null) await this.#replayKept();
    } catch (error) {
      this.#failure ??= error;
    }
  }

  /** Resolves when that many slots are free. */
  async #freeSlotsOf(count: number): Promise<void> {
    while (this.#freeSlots.length < count) {
      this.#slotFreed = Promise.withResolvers();
      await this.#slotFreed.promise;
    }
  }

  /** Runs the newest row over other input; if that is interrupted, runs it again over its former input. */
  async revise(row: InputRow, call: LiveCall, options: Partial<RunRowOptions>): Promise<BegunRow> {
    await this.#openPlan.idle();
    const newest = this.#newest!;
    // It may be there already, of the row as it was.
    this.retained.forgetPoint(this.retained.count);
    const slot = this.#freeSlots.shift()!;
    this.#current.stage(slot, row, call);
    try {
      const run = await this.#run(call, slot, { ...options, row: "again" });
      this.retained.replaceNewest(row, call.values);
      this.#newest = { row, call, slot };
      return { slot, ran: Promise.resolve(run) };
    } catch (error) {
      this.#freeSlots.unshift(slot);
      try {
        await this.#openPlan.idle();
        // Its rest may be what has failed before: only what every row needs must succeed.
        const again = await this.#current.run(newest.call, newest.slot, { row: "again", budgetMs: 0 });
        await again.rest?.catch(() => {});
      } catch (failure) {
        this.#failure = failure;
      }
      throw error;
    }
  }

  /** Runs what the newest row lacks for another call. */
  async also(call: LiveCall, options: Partial<RunRowOptions>): Promise<BegunRow> {
    const { slot } = this.#newest!;
    await this.#current.runner.finish();
    const run = await this.#current.run(call, slot, { ...options, row: "rest" });
    this.#freeSlots.splice(this.#freeSlots.indexOf(slot), 1);
    return { slot, ran: Promise.resolve(run) };
  }

  /**
   * The newest row, for another call of it.
   *
   * @throws DataError E371 if there is none; UsageError E528 for another value of a param that formulas use as a value
   */
  newestFor(call: LiveCall): InputRow {
    if (this.#newest === null) throw nothingToRevise(this.#noNewest);
    const { row, call: first } = this.#newest;
    for (const name of this.#current.plan.read.params)
      if (!Object.is(call.numeric(name), first.numeric(name)))
        throw paramsDiffer(name, call.numeric(name), first.numeric(name));
    return row;
  }

  /** Keeps carried values before the row that comes after the retained ones. */
  #addPoint(): void {
    const { count } = this.retained;
    if (!this.retained.beginsPart(count)) return;
    this.retained.addPoint(this.#current.pointBefore(count, this.#underWay.length));
  }

  /** Keeps the rows that the next program needs. @throws as `KeptMemory.layOut`; the program is then closed. */
  async warmUpOf(program: LiveProgram, signal: AbortSignal): Promise<WarmUp> {
    try {
      await this.memory.layOut(program, this.retained.columns, signal);
      return new WarmUp(program, this.retained);
    } catch (error) {
      await program.plan.close();
      throw error;
    }
  }

  /** Runs rows that came meanwhile through another program and gates to it. */
  async switchTo(warmUp: WarmUp): Promise<UpdateReport> {
    const [before, next] = [this.#current, warmUp.program];
    for (const point of await this.#pointsNow()) this.retained.addPoint(point);
    await this.#replay(warmUp);
    this.#current = next;
    await before.plan.close();
    return { rowCount: warmUp.rowCount, shortOfHistory: this.shortOfHistory };
  }

  /** Carried values before the first row that may still be run, and before the next one. No row is under way. */
  async #pointsNow(): Promise<RecurrencePoint[]> {
    await this.#openPlan.idle();
    await this.#endRest();
    const { count } = this.retained;
    const rows = new Set([this.firstOpenRow, count]);
    return [...rows].map((row) => this.#current.pointBefore(row, count - row));
  }

  /** Runs the kept rows through a program, which is then ready for the next row. */
  async #replay(warmUp: WarmUp): Promise<void> {
    await warmUp.run(() => this.retained.count);
    await warmUp.finish();
    warmUp.program.tables.updateSymbols();
    const { lastRow } = warmUp;
    if (lastRow === null) this.#noNewest = "no rows are kept";
    this.#newest = lastRow;
    const slot = lastRow?.slot ?? 0;
    this.#freeSlots = [...SLOTS.filter((one) => one !== slot), slot];
  }

  /** Cancels running work and frees the memory. May be called twice. */
  async close(): Promise<void> {
    this.#failure ??= sessionClosed();
    await this.#current.plan.close(sessionClosed());
    this.memory.release();
  }

  /** The first row that may still be run: the newest if it may be revised, else the next. */
  get firstOpenRow(): number {
    const { count, oldest } = this.retained;
    const isOpen = this.#parts.options.revisable === true && this.#newest !== null && oldest < count;
    return isOpen ? count - 1 : count;
  }

  get shortOfHistory(): ShortOfHistory {
    return this.#current.shortOfHistoryAt(this.firstOpenRow);
  }

  /** @throws UsageError E515 while a recursive operator cannot run a row that it has missed. */
  async save(): Promise<SavedProgress> {
    await this.#current.runner.finish();
    const points = await this.#pointsNow();
    if (!this.#current.isWhole(points.at(-1)!)) await this.#current.runner.runRest(this.#newest?.slot ?? 0);
    const { last: lastTime, judged: judgedTime } = this.times;
    return { held: this.retained.hold(points), lastTime, judgedTime };
  }

  /**
   * Continues from a checkpoint: windows are made by running the kept rows again. No row is under way.
   *
   * @returns the newest row; null if none is kept
   */
  async restore({ description, lanes, firstRow, rows, points }: StoredSession): Promise<RanRow | null> {
    const { lastTime, judgedTime } = description;
    await this.#openPlan.idle();
    const from = Int32Array.from({ length: this.#parts.lanes.laneCount }, (_, lane) =>
      Math.min(lane, lanes - 1),
    );
    const inLanes = points.map((point) => withLanes(point, lanes, from));
    this.retained.restore(firstRow, rows.map(inputRowOf), inLanes);
    this.times.last = timeOf(lastTime);
    this.times.judged = timeOf(judgedTime);
    try {
      return await this.#replayKept();
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  /** Makes the state from the kept rows; returns the newest. Nothing is under way. */
  async #replayKept(): Promise<RanRow | null> {
    const { plan, runner } = this.#current;
    await plan.evaluation.restart();
    runner.forget();
    const warmUp = new WarmUp(this.#current, this.retained);
    await this.#replay(warmUp);
    return warmUp.lastRow;
  }

  /** @throws DataError E371 for rows that cannot replace the newest one. */
  checkNewest(rows: readonly InputRow[]): void {
    if (this.#newest === null) throw nothingToRevise(this.#noNewest);
    this.times.checkNewest(rows);
  }
}

const timeOf = (text: string | null) => (text === null ? null : BigInt(text));

const SLOTS: readonly number[] = Array.from({ length: ROW_SLOTS }, (_, slot) => slot);
