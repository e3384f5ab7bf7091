import { resolve } from "node:path";
import {
  checkpointBytes,
  removeOthers,
  type WrittenFolder,
  writeFolder,
} from "../../checkpoint/write_checkpoint.ts";
import { PROGRAM, type Program } from "../../compile.ts";
import type { Panel } from "../../panel.ts";
import type { Explanation } from "../../reasons/explanation.ts";
import type { ShortOfHistory } from "../../state/history.ts";
import { checkArgument, PATH } from "../../text/argument_kinds.ts";
import { checkedOptions } from "../../text/option_kinds.ts";
import { checkpointOfOtherSession, notRevisable, pushAborted, sessionClosed } from "../errors.ts";
import { type BarInput, copyOf, type InputRow, inputRows } from "../input/bars.ts";
import type { StaticGroups } from "../input/group_codes.ts";
import type { SessionMeter } from "../live_metrics.ts";
import { knownTo } from "../live_params.ts";
import { LiveProgram, type SessionParts } from "../live_program.ts";
import {
  ALSO_OPTIONS,
  type AlsoOptions,
  CHECKPOINT,
  checkBudget,
  PUSH_OPTIONS,
  type PushOptions,
} from "../options.ts";
import type { LiveRow } from "../row.ts";
import type { RanRow } from "../row_runner.ts";
import { type PushKind, PushRunner } from "./push_runner.ts";
import {
  columnsOf,
  expectSameColumns,
  readSession,
  retentionOf,
  type StoredSession,
  snapshotOf,
} from "./session_checkpoint.ts";
import { SessionQueue, type Turn } from "./session_queue.ts";
import type { RowEvents, SessionRows } from "./session_rows.ts";
import { UPDATE_OPTIONS, type UpdateOptions, type UpdateReport, updatedOptions } from "./update.ts";
import { explainNewest } from "./why_newest.ts";

/** Events of a row before the first push: nothing is ahead of it or behind it. */
const ALONE: RowEvents = { mayBegin: () => {}, hasFailed: () => {} };

/**
 * A program that is open for live use: rows come one by one and operators keep their state. Calls are executed in order;
 * pushes that are not awaited overlap, so that executors do not idle between rows. Made by `Engine.openSession`.
 */
export class LiveSession {
  readonly #parts: SessionParts;
  readonly #rows: SessionRows;
  readonly #pushes: PushRunner;
  readonly #queue = new SessionQueue();
  readonly #updates = new SessionQueue();
  /** Checkpoints are written one after the other. */
  readonly #writes = new SessionQueue();
  /** By folder: what it has of the rows of this session. */
  readonly #written = new Map<string, WrittenFolder>();
  readonly #closing = new AbortController();
  readonly #meter: SessionMeter;

  /** @internal */
  constructor(parts: SessionParts, rows: SessionRows) {
    this.#parts = parts;
    this.#rows = rows;
    this.#pushes = new PushRunner(parts, rows);
    this.#meter = parts.meter.open(() => this.#queue.waitingCount);
  }

  /** Its number in `engine.metrics()`: the sessions of an engine are counted from 1 on. */
  get number(): number {
    return this.#meter.session;
  }

  /** The symbols in the order of a bar's values. */
  get symbols(): readonly string[] {
    return this.#parts.lanes.symbols;
  }

  /** Time of the newest row in units of the time column's type; null before the first. */
  get lastTime(): bigint | null {
    return this.#rows.times.last;
  }

  /**
   * Factors that do not have the bits of the whole history in the next row, by name: how many more rows they need.
   * Empty for a session that has run all its rows. After `update`, or where a checkpoint came from other formulas, a factor
   * may look back further than the kept rows; one that applies a recursive operator (`ema`, `cum_sum`) which did not run
   * before needs an infinite number.
   */
  get shortOfHistory(): ShortOfHistory {
    return this.#rows.shortOfHistory;
  }

  /**
   * Factors that a session which continues from a checkpoint of this one may be short of (`shortOfHistory`), because
   * `retainRows` keeps fewer rows than they look back: how many more they need. Empty unless `retainRows` was given. What
   * is made again after a row failed inside is short of the same.
   */
  get shortAfterRestore(): ShortOfHistory {
    return this.#current.shortWith(this.#rows.retained.retention, this.#parts.options.revisable === true);
  }

  /**
   * Runs the next bar, or several, through all operators. Arrays of a bar are copied in the call: they may change after it.
   * Those of a panel must not change before the push has ended.
   *
   * @param bar one row or several in order, later than the last row
   * Pushes need not be awaited: up to three rows are under way at a time, and results come in order. A row that has begun
   * is taken, also if its push is aborted; an abort before that refuses the push, or those of its bars that have not
   * begun, and keeps the pushes behind it.
   *
   * @returns the table that `evaluate` gives for these rows after the history of the session; it is the caller's own. Null:
   *   as `evaluate`, and factors that the budget left out.
   * @throws DataError E371 for a time that is not later than the last one, E372 for no time of the session, E373 for symbols, E383 for a missing column, for values of a wrong number or type; UsageError E506, E528,
   *   E555 for wrong params, E527, E528 for wrong options; ResourceError E412
   *   with a `cause` for a push that was aborted, or behind one whose row failed inside: the state is then made again from
   *   the kept rows, and `shortOfHistory` says what they do not reach back for; else as `evaluate`. The
   *   session is then as before the bar; of several bars, those that have run stay. Never E401: what pushes need was
   *   reserved when the session was opened.
   * @example
   * const { table } = await session.push({ time: Date.now(), fields: { close: [101.5, 20.25] } });
   */
  async push(bar: BarInput, options: PushOptions = {}): Promise<LiveRow> {
    return await this.#take("push", bar, options);
  }

  /**
   * Replaces the newest row, as often as its bar changes. The session is then as if only the last bar had come.
   *
   * @param bar one bar, with the time of the newest row
   * @throws UsageError E551 if the session was not opened with `revisable`; DataError E371 if no bar can be replaced, e.g.
   *   before the first push; E371 for another time than that of the newest row; else as `push`. The row then stays as it was.
   */
  async revise(bar: BarInput, options: PushOptions = {}): Promise<LiveRow> {
    return await this.#take("revise", bar, options);
  }

  /**
   * Another call over the newest bar, with other params: runs what its factors want and no call of this bar has run.
   * It is given before the next push begins; several may follow each other.
   *
   * @returns the row with the factors that these params want; factors that an earlier call of the bar has computed are not
   *   run again
   * @throws DataError E371 before the first bar, or if windows have restarted since; UsageError E528 for another value of a
   *   param that formulas use as a value (they carry it from row to row); else as `push`. The row stays as it was.
   * @example
   * const { table } = await session.also({ params: { session: "close" }, budgetMs: 20 });
   */
  async also(options: AlsoOptions = {}): Promise<LiveRow> {
    return await this.#take("also", [], options);
  }

  /**
   * Adds symbols. From the next push on bars have their values after those of the others.
   *
   * @param groups labels of the new symbols, for group columns that do not come with the bars
   * @throws DataError E373 for a known symbol, for one that is no text, for an unknown symbol in the groups, E383
   *   for a label that is no text, E373 for an unknown group column, for another label of a known symbol; UsageError
   *   E551 for too few spare lanes. Nothing changes then.
   */
  async addSymbols(symbols: readonly string[], groups: StaticGroups = {}): Promise<void> {
    await this.#queue.run(undefined, async () => {
      this.#expectOpen();
      const { lanes, groups: known } = this.#parts;
      known.checkAdded(groups, lanes.checkNew(symbols), this.#current.plan.read.groups);
      lanes.add(symbols);
      known.set(groups);
      this.#current.tables.updateSymbols();
    });
  }

  /**
   * Explains the newest cell of a factor, as `engine.why` does, from the rows that the session keeps (`retainRows`).
   *
   * @throws UsageError E506 for an unknown factor, E551 if the cell depends on rows that are not kept, which factors with
   *   recursive operators do in a session that has dropped any, or on rows that were pushed with other params; DataError
   *   E344 for an unknown symbol, for one without a row.
   * @example
   * const { cause } = await session.why("a", "A");
   */
  async why(factor: string, symbol: string): Promise<Explanation> {
    return await this.#queue.run(undefined, async () => {
      this.#expectOpen();
      return await explainNewest(this.#parts, this.#current.program, this.#rows.retained, factor, symbol);
    });
  }

  /**
   * Saves what a session needs to continue after the newest row, in this process or another: the option `checkpoint` of
   * `engine.openSession`. Pushes that come later do not wait until it is written, and are not in it.
   *
   * A folder is continued: it takes the rows that are new since the last checkpoint, then a new `state`, which replaces the
   * former one. A crash at any moment leaves the one or the other. One session at a time may write to a folder.
   *
   * @returns without a folder the bytes of the checkpoint, for sessions of a few symbols
   * @throws ResourceError E442 if the folder cannot be written; UsageError E515 while a recursive operator cannot run a row
   *   that it has missed.
   * @example
   * await session.checkpoint("state/alphas");
   * const later = await engine.openSession(program, { checkpoint: "state/alphas" });
   */
  async checkpoint(): Promise<Uint8Array<ArrayBuffer>>;
  async checkpoint(folder: string): Promise<void>;
  async checkpoint(folder?: string): Promise<unknown> {
    if (folder !== undefined) checkArgument("checkpoint", folder, PATH);
    const snapshot = await this.#queue.run(undefined, async () => {
      this.#expectOpen();
      return snapshotOf(this.#parts, this.#current.params.opening, await this.#rows.save());
    });
    try {
      if (folder === undefined) return await checkpointBytes(snapshot);
      const path = resolve(folder);
      return await this.#writes.run(undefined, async () => {
        const written = await writeFolder(path, snapshot, this.#written.get(path));
        this.#written.set(path, written);
        await removeOthers(path, written);
      });
    } finally {
      snapshot.release();
    }
  }

  /**
   * Continues from a checkpoint, as a session that is opened with it. Its own symbols that the checkpoint lacks were absent
   * in all rows. Params and the name of the time column stay those of this session.
   *
   * @param checkpoint a folder, or bytes
   * @throws DataError E309 if the folder holds none, E351 if it is damaged, E352 if another release wrote it, if it has
   *   times of another type, or more symbols than this session has room for; ResourceError E401 if its rows do not fit in
   *   memory; nothing changes then.
   */
  async restore(checkpoint: string | Uint8Array): Promise<void> {
    checkArgument("a session", checkpoint, CHECKPOINT);
    await this.#queue.run(undefined, async () => {
      this.#expectOpen();
      const stored = await readSession(checkpoint);
      const { byLane, symbols, groups: saved } = stored.description;
      const { lanes, groups } = this.#parts;
      expectSameColumns(stored.description, this.#parts);
      const wanted = lanes.countWith(byLane);
      if (wanted > lanes.room)
        throw checkpointOfOtherSession(
          `with its symbols there are ${wanted}, this one has room for ${lanes.room}`,
        );
      await this.#rows.memory.layOut(
        this.#current,
        columnsOf(stored.rows),
        this.#closing.signal,
        retentionOf(stored),
      );
      lanes.restore(byLane, symbols);
      groups.restore(saved);
      await this.resume(stored, checkpoint);
    });
  }

  /** Continues from a checkpoint, whose symbols have their lanes already. @internal */
  async resume(stored: StoredSession, from: string | Uint8Array): Promise<void> {
    const newest = await this.#rows.restore(stored);
    const { renewals } = this.#rows.retained;
    if (typeof from === "string") this.#written.set(resolve(from), { ...stored.written, renewals });
    if (newest) this.#current.tables.warmUp(newest);
  }

  /**
   * Switches to another program: factors added, removed or changed. It is warmed up with the kept rows (`retainRows`)
   * while pushes run the former program, and replaces it between two pushes.
   *
   * Factors of bounded lookback are then as if the program had always run, as far as the kept rows reach; new recursive
   * ones (`ema`, `cum_sum`) are as in a session that began with the oldest kept row. Recursive operators that both
   * programs apply to the same inputs continue from their whole history.
   *
   * @throws as `Engine.openSession`; the session then keeps its program.
   */
  async update(program: Program, options: UpdateOptions = {}): Promise<UpdateReport> {
    checkArgument("update", program, PROGRAM);
    const checked = checkedOptions("update", options, UPDATE_OPTIONS);
    return await this.#updates.run(undefined, async () => {
      this.#expectOpen();
      const changed = updatedOptions(checked, program, this.#current.options);
      const parts = { ...this.#parts, options: { ...this.#parts.options, ...changed } };
      const opening = { ...knownTo(program, this.#current.params.opening), ...checked.params };
      const same = await this.#queue.run(undefined, async () => {
        this.#expectOpen();
        if (!this.#current.adopt(parts, program, opening)) return null;
        return { rowCount: 0, shortOfHistory: this.#rows.shortOfHistory };
      });
      return (
        same ?? (await this.#changeTo(() => LiveProgram.open(parts, program, opening, this.#closing.signal)))
      );
    });
  }

  async #changeTo(open: () => Promise<LiveProgram>): Promise<UpdateReport> {
    const { retained } = this.#rows;
    const begin = async () => await this.#rows.warmUpOf(await open(), this.#closing.signal);
    let warmUp = await begin();
    try {
      await warmUp.run(() => (this.#isClosed ? 0 : retained.count - 1));
      return await this.#queue.run(undefined, async () => {
        this.#expectOpen();
        if (warmUp.hasLostRows) {
          await warmUp.program.plan.close();
          warmUp = await begin();
        }
        return await this.#rows.switchTo(warmUp);
      });
    } catch (error) {
      await warmUp.program.plan.close();
      throw error;
    }
  }

  /** Cancels running work and frees the memory. May be called twice. */
  async close(): Promise<void> {
    this.#closing.abort(sessionClosed());
    this.#meter.close();
    await this.#rows.close();
    await this.#queue.idle();
    await this.#updates.idle();
    await this.#writes.idle();
    // An update may have switched programs meanwhile.
    await this.#rows.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Runs rows before the first push, with the params of the session. @throws as `push`. @internal */
  async warmUp(panel: Panel, signal: AbortSignal | undefined): Promise<void> {
    const call = this.#current.params.of(undefined);
    let last: RanRow | null = null;
    for (const row of this.#rowsOf(panel)) {
      const begun = await this.#rows.begin(row, call, { signal }, ALONE);
      last = { row, slot: begun.slot, run: await begun.ran };
      this.#rows.release(begun.slot);
    }
    if (last) this.#current.tables.warmUp(last);
  }

  async #take(how: PushKind, bar: BarInput, given: PushOptions): Promise<LiveRow> {
    const options: PushOptions =
      how === "also"
        ? checkedOptions<AlsoOptions>(how, given, ALSO_OPTIONS)
        : checkedOptions(how, given, PUSH_OPTIONS);
    const { clock } = this.#parts;
    const calledAt = clock.now();
    const input = copyOf(bar);
    const work = async (turn: Turn): Promise<LiveRow> => {
      this.#expectOpen();
      if (this.#rows.refusal !== null) throw this.#rows.refusal;
      turn.throwIfRefused();
      if (how === "revise" && this.#parts.options.revisable !== true) throw notRevisable();
      const startedAt = clock.now();
      const call = this.#current.params.of(options.params);
      const rows = how === "also" ? [this.#rows.newestFor(call)] : this.#rowsOf(input);
      checkBudget(options, rows.length);
      if (how === "revise") this.#rows.checkNewest(rows);
      if (how === "push") this.#rows.times.checkOrder(rows);
      const times = { calledAt, startedAt };
      const { budgetMs } = options;
      const ran = await this.#pushes.run(rows, call, turn, { ...options, how }, times);
      const row = { ...ran, missedBudget: ran.timing.totalMs > (budgetMs ?? Number.POSITIVE_INFINITY) };
      this.#meter.note(row, how === "push" ? rows.length : 0, budgetMs !== undefined);
      return row;
    };
    const { signal } = options;
    try {
      return how === "push" ? await this.#queue.follow(signal, work) : await this.#queue.run(signal, work);
    } catch (error) {
      if (signal?.aborted && error === signal.reason) throw pushAborted(0, 1, error);
      throw error;
    }
  }

  #rowsOf(bar: BarInput): InputRow[] {
    const { time, lanes, groups, series } = this.#parts;
    return inputRows(bar, { time, lanes, groups, read: this.#current.plan.read, shared: series.shared });
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  get #current(): LiveProgram {
    return this.#rows.current;
  }

  #expectOpen(): void {
    if (this.#isClosed) throw sessionClosed();
    if (this.#rows.failure) throw this.#rows.failure;
  }
}
