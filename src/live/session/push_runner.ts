import type { RowTable } from "../../data/factors/row_table.ts";
import { suppressUnhandled } from "../../evaluation/awaiting.ts";
import { settlesWithin } from "../../execution/settles_within.ts";
import { barBehindFailure, pushAborted } from "../errors.ts";
import type { InputRow } from "../input/bars.ts";
import type { LiveCall } from "../live_params.ts";
import type { SessionParts } from "../live_program.ts";
import { CATCH_UP_DEFAULT, type PushOptions } from "../options.ts";
import type { LateRow, LiveRow } from "../row.ts";
import type { RanRow } from "../row_runner.ts";
import type { Turn } from "./session_queue.ts";
import type { BegunRow, RowEvents, SessionRows } from "./session_rows.ts";

/** Pushes that follow each other faster than this do not wait for what catches up between them, in ms. */
const QUIET_MS = 1;

/** A new row, the newest one over another bar, or another call of it. */
export type PushKind = "push" | "revise" | "also";

/** A row in the table of its push. */
interface AppendedRow extends RanRow {
  /** Time that the rows of the push so far took to be appended. */
  readonly appendMs: number;
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
    options: PushOptions & { readonly how: PushKind },
    times: PushTimes,
  ): Promise<Omit<LiveRow, "missedBudget">> {
    const { clock } = this.#parts;
    const { tables, runner } = this.#rows.current;
    const { signal, how, late = this.#parts.options.late ?? "deliver" } = options;
    const leftMs = () =>
      options.budgetMs === undefined ? null : options.budgetMs - (clock.now() - times.calledAt);
    const stagedAt = clock.now();
    const overlaps = how === "push" && runner.runsWhole(call, leftMs());
    if (!overlaps) await turn.earlier;
    const beganAt = clock.now();
    const table = tables.begin(rows.length);
    let last: Promise<AppendedRow | null> = Promise.resolve(null);
    let [begunCount, failure]: [number, Error | null] = [0, null];
    const events: RowEvents = {
      mayBegin: () => {
        turn.throwIfRefused();
        if (failure !== null) throw failure;
      },
      hasFailed: (error) => {
        failure = barBehindFailure(error);
        turn.refuseLater(failure);
      },
    };
    try {
      for (const row of rows) {
        // A row that overlaps with the next one must run whole, however the time has passed since that was decided.
        const runOptions = { signal, budgetMs: overlaps ? null : leftMs(), late };
        const begun =
          how === "push"
            ? await this.#rows.begin(row, call, runOptions, events)
            : how === "revise"
              ? await this.#rows.revise(row, call, runOptions)
              : await this.#rows.also(call, runOptions);
        begunCount++;
        last = suppressUnhandled(this.#append(table, row, begun, last, turn));
      }
      if (overlaps) turn.pass();
      const ran = await last;
      await turn.earlier;
      return this.#resultOf(ran, table, turn, { ...times, stagedAt, beganAt });
    } catch (error) {
      // Rows that have begun end; the first that failed says why.
      await last;
      if (signal?.aborted && error === signal.reason) throw pushAborted(begunCount, rows.length, error);
      throw error;
    }
  }

  /** Appends a row to the table of its push when it has run, and frees its slot. */
  async #append(
    table: RowTable,
    row: InputRow,
    { ran, slot }: BegunRow,
    before: Promise<AppendedRow | null>,
    turn: Turn,
  ): Promise<AppendedRow> {
    const { clock } = this.#parts;
    const done = await before;
    const run = await ran;
    if (!done) await turn.earlier;
    const startedAt = clock.now();
    try {
      this.#rows.current.tables.append(table, slot, row, run.tags);
    } finally {
      this.#rows.release(slot);
    }
    return { row, slot, run, appendMs: (done?.appendMs ?? 0) + clock.now() - startedAt };
  }

  #resultOf(
    last: AppendedRow | null,
    rowTable: RowTable,
    turn: Turn,
    {
      calledAt,
      startedAt,
      stagedAt,
      beganAt,
    }: PushTimes & { readonly stagedAt: number; readonly beganAt: number },
  ): Omit<LiveRow, "missedBudget"> {
    const { clock } = this.#parts;
    const { plan } = this.#rows.current;
    const ranAt = clock.now();
    const table = rowTable.take();
    const endedAt = clock.now();
    const appendMs = last?.appendMs ?? 0;
    const { criticalPathMs, nodesRun } = last?.run.account ?? { criticalPathMs: 0, nodesRun: 0 };
    return {
      table,
      tags: last?.run.tags ?? {},
      late: last && this.#lateRow(last, calledAt, turn),
      timing: {
        totalMs: endedAt - calledAt,
        stageMs: {
          wait: startedAt - calledAt + beganAt - stagedAt,
          stage: stagedAt - startedAt,
          run: ranAt - beganAt - appendMs,
          table: appendMs + endedAt - ranAt,
        },
        criticalPathMs,
        nodesRun,
        nodesPruned: plan.nodeCount - nodesRun,
        predictedMs: last?.run.predictedMs ?? 0,
      },
    };
  }

  #lateRow(ran: RanRow, calledAt: number, turn: Turn): Promise<LateRow> | null {
    const { row, slot, run } = ran;
    const { rest, tags } = run;
    if (rest === null) {
      this.#catchUp(ran, turn);
      return null;
    }
    if (!Object.values(tags).includes("late")) {
      turn.hold(rest);
      return null;
    }
    const { tables } = this.#rows.current;
    const { clock } = this.#parts;
    const late = rest.then((): LateRow => {
      const table = tables.begin(1);
      tables.append(table, slot, row, tags, true);
      return { table: table.take(), totalMs: clock.now() - calledAt };
    });
    turn.hold(late);
    return late;
  }

  /** Runs what the row left out, once no push has come for a moment, while no other call of the engine runs anything. */
  #catchUp({ slot, run }: RanRow, turn: Turn): void {
    const { plan, runner } = this.#rows.current;
    const isLeftOut = run.account.nodesRun < plan.nodeCount;
    const { catchUp = CATCH_UP_DEFAULT } = this.#parts.options;
    if (catchUp !== "idle" || !isLeftOut || turn.hasLater()) return;
    const { host } = this.#parts;
    const catchUpQuietly = async () => {
      if (await settlesWithin(turn.later(), QUIET_MS)) return;
      await runner.catchUp(slot, () => !turn.hasLater() && host.pool.isIdle);
    };
    turn.hold(catchUpQuietly());
  }
}
