import type { RowTable, TableMemory } from "../../data/factors/row_table.ts";
import { suppressUnhandled } from "../../evaluation/awaiting.ts";
import { barTakenBack } from "../errors.ts";
import type { InputRow } from "../input/bars.ts";
import type { LiveCall } from "../live_params.ts";
import type { SessionParts } from "../live_program.ts";
import { CATCH_UP_DEFAULT, type PushOptions } from "../options.ts";
import type { LateRow, LiveRow } from "../row.ts";
import type { RowRun } from "../row_runner.ts";
import type { Turn } from "./session_queue.ts";
import type { BegunRow, RowEvents, SessionRows } from "./session_rows.ts";

/** A row and how it was run. */
export interface RanRow {
  readonly row: InputRow;
  readonly slot: number;
  readonly run: RowRun;
}

/** When a push was called, and when its turn came, by the session's clock. */
interface PushTimes {
  readonly calledAt: number;
  readonly startedAt: number;
}

/** Runs the rows of a push and makes its table. */
export class PushRunner {
  readonly #parts: SessionParts;
  readonly #rows: SessionRows;

  constructor(parts: SessionParts, rows: SessionRows) {
    this.#parts = parts;
    this.#rows = rows;
  }

  /** Runs the rows of a push; its turn passes on as soon as they have begun. @throws as `LiveSession.push`. */
  async run(
    rows: readonly InputRow[],
    call: LiveCall,
    turn: Turn,
    options: PushOptions & { readonly isRevision: boolean },
    times: PushTimes,
  ): Promise<Omit<LiveRow, "missedBudget">> {
    const { clock } = this.#parts;
    const { tables, runner } = this.#rows.current;
    const { signal, isRevision, copy = false, late = this.#parts.options.late ?? "deliver" } = options;
    const leftMs = () =>
      options.budgetMs === undefined ? null : options.budgetMs - (clock.now() - times.calledAt);
    const stagedAt = clock.now();
    const overlaps = !isRevision && runner.runsWhole(call, leftMs());
    if (!overlaps) await turn.earlier;
    const beganAt = clock.now();
    const table = tables.begin(rows.length);
    let last: Promise<RanRow | null> = Promise.resolve(null);
    let [hasBegun, hasFailed] = [false, false];
    const events: RowEvents = {
      mayBegin: () => {
        turn.throwIfTakenBack();
        if (hasFailed) throw barTakenBack();
      },
      isTakenBack: () => {
        hasFailed = true;
        turn.takeBackLater();
      },
    };
    try {
      for (const row of rows) {
        // A row that overlaps with the next one must run whole, however the time has passed since that was decided.
        const runOptions = { signal, budgetMs: overlaps ? null : leftMs(), late, isRevision };
        const begun = isRevision
          ? await this.#rows.revise(row, call, runOptions)
          : await this.#rows.begin(row, call, runOptions, events);
        hasBegun = true;
        last = suppressUnhandled(this.#append(table, row, begun, last, turn));
      }
      if (overlaps) turn.pass();
      const ran = await last;
      await turn.earlier;
      return this.#resultOf(ran, table, turn, copy, { ...times, stagedAt, beganAt });
    } catch (error) {
      this.#releaseWhenDone(last);
      const drop = () => tables.drop(table);
      last.then(drop, drop);
      if (hasBegun && !isRevision) turn.takeBackLater();
      // The first row that failed says why; those behind it were taken back.
      if (hasFailed) await last;
      throw error;
    }
  }

  /** Appends a row to the table of its push when it has run, and frees the slot of the row before it. */
  async #append(
    table: RowTable,
    row: InputRow,
    { ran, slot }: BegunRow,
    before: Promise<RanRow | null>,
    turn: Turn,
  ): Promise<RanRow> {
    this.#releaseWhenDone(before);
    const done = await before;
    const run = await ran;
    if (!done) await turn.earlier;
    this.#rows.current.tables.append(table, slot, row, run.tags);
    return { row, slot, run };
  }

  /** The table has what it needs of a row, if that has run. */
  #releaseWhenDone(row: Promise<RanRow | null>): void {
    row.then(
      (done) => done && this.#rows.release(done.slot),
      () => {},
    );
  }

  #resultOf(
    last: RanRow | null,
    rowTable: RowTable,
    turn: Turn,
    isCopy: boolean,
    {
      calledAt,
      startedAt,
      stagedAt,
      beganAt,
    }: PushTimes & { readonly stagedAt: number; readonly beganAt: number },
  ): Omit<LiveRow, "missedBudget"> {
    const { clock } = this.#parts;
    const { tables, plan } = this.#rows.current;
    const ranAt = clock.now();
    const table = tables.take(rowTable, memoryOf(isCopy, turn));
    if (last) this.#rows.release(last.slot);
    const endedAt = clock.now();
    const { criticalPathMs, nodesRun } = last?.run.account ?? { criticalPathMs: 0, nodesRun: 0 };
    return {
      table,
      free: () => tables.reclaim(table),
      tags: last?.run.tags ?? new Map(),
      late: last && this.#lateRow(last, calledAt, isCopy, turn),
      timing: {
        totalMs: endedAt - calledAt,
        stageMs: {
          wait: startedAt - calledAt + beganAt - stagedAt,
          stage: stagedAt - startedAt,
          run: ranAt - beganAt,
          table: endedAt - ranAt,
        },
        criticalPathMs,
        nodesRun,
        nodesPruned: plan.nodeCount - nodesRun,
        predictedMs: last?.run.predictedMs ?? 0,
      },
    };
  }

  #lateRow(ran: RanRow, calledAt: number, isCopy: boolean, turn: Turn): Promise<LateRow> | null {
    const { row, slot, run } = ran;
    const { rest, tags } = run;
    if (rest === null) {
      this.#catchUp(ran, turn);
      return null;
    }
    if (![...tags.values()].includes("late")) {
      turn.hold(rest);
      return null;
    }
    const { tables } = this.#rows.current;
    const { clock } = this.#parts;
    const late = rest.then((): LateRow => {
      const table = tables.begin(1);
      tables.append(table, slot, row, tags, true);
      return {
        table: tables.take(table, memoryOf(isCopy, turn)),
        totalMs: clock.now() - calledAt,
      };
    });
    turn.hold(late);
    return late;
  }

  /** Runs what the row left out while no push waits. */
  #catchUp({ slot, run }: RanRow, turn: Turn): void {
    const { plan, runner } = this.#rows.current;
    const isLeftOut = run.account.nodesRun < plan.nodeCount;
    const { catchUp = CATCH_UP_DEFAULT } = this.#parts.options;
    if (catchUp !== "idle" || !isLeftOut || turn.hasLater()) return;
    turn.hold(runner.catchUp(slot, turn.hasLater));
  }
}

function memoryOf(isCopy: boolean, turn: Turn): TableMemory {
  if (isCopy) return "own";
  // The rows of waiting pushes may overwrite this one's before the caller frees it.
  return turn.hasWaiting() ? "reused" : "executors";
}
