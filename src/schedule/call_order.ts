/** What decides whose parts go first where calls overlap. */
export interface CallOrder {
  /** Higher goes first. Default 0. */
  readonly priority?: number | undefined;
  /** Of equal priorities lower numbers go first: first come, first served. They wrap around: records carry Int32. */
  readonly call: number;
}

/** The order of all runs of a plan. Without a number each run is a call of its own, as rows of sessions are. */
export type PlanOrder = Partial<CallOrder>;

/** Negative if parts of `a` go before parts of `b`. */
export function compareCalls(a: CallOrder, b: CallOrder): number {
  return (b.priority ?? 0) - (a.priority ?? 0) || (a.call - b.call) | 0;
}

/** First rows of this many other sessions go between two rows of one session. */
const ROWS_APART = 256;

/**
 * Numbers calls in the order in which they come, so that sessions take turns: a row behind others of its session goes also
 * behind rows that other sessions begin later, if those have none ahead.
 */
export class CallNumbers {
  #next: number;
  /** Of each session with rows under way their numbers, in order. */
  readonly #rows = new Map<unknown, number[]>();

  constructor(first = 0) {
    this.#next = first;
  }

  /** The number of a call: behind all calls so far, and behind the row under way that goes first. */
  next(): number {
    let ahead = Number.POSITIVE_INFINITY;
    for (const [first] of this.#rows.values()) ahead = Math.min(ahead, (first! - this.#next) | 0);
    if (ahead >= 0 && ahead < Number.POSITIVE_INFINITY) this.#next = (this.#next + ahead + 1) | 0;
    const number = this.#next;
    this.#next = (number + 1) | 0;
    return number;
  }

  /** The number of a row of a session that begins. */
  begin(session: unknown): number {
    const rows = this.#rows.get(session);
    const number = rows ? (rows.at(-1)! + ROWS_APART) | 0 : this.next();
    if (rows) rows.push(number);
    else this.#rows.set(session, [number]);
    return number;
  }

  /** The first row under way of a session has ended. */
  end(session: unknown): void {
    const rows = this.#rows.get(session);
    rows?.shift();
    if (rows?.length === 0) this.#rows.delete(session);
  }
}
