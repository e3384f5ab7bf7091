import type { LiveRow } from "./row.ts";

/** What pushes, revisions and calls of `also` have done, those that were refused or failed aside. */
export interface LiveCounts {
  /** Rows of pushes; `revise` and `also` add none. */
  readonly rows: number;
  /** Calls with a budget whose table came in time. */
  readonly metBudgets: number;
  /** Calls with a budget whose table came later (`LiveRow.missedBudget`). */
  readonly missedBudgets: number;
  /** Factors with the tag `late`, each once a call. */
  readonly lateFactors: number;
  /** Factors with the tag `skipped`, each once a call. */
  readonly skippedFactors: number;
}

/** An open session. */
export interface SessionMetrics extends LiveCounts {
  /** `LiveSession.number`. */
  readonly session: number;
  /** Its calls that wait for their turn, such as pushes of a burst. */
  readonly waitingCalls: number;
}

type Counts = { -readonly [Name in keyof LiveCounts]: number };

const nothing = (): Counts => ({
  rows: 0,
  metBudgets: 0,
  missedBudgets: 0,
  lateFactors: 0,
  skippedFactors: 0,
});

/** Counts for all sessions of an engine. */
export class LiveMeter {
  readonly #counts = nothing();
  readonly #open = new Set<SessionMeter>();
  #lastSession = 0;

  /** Of all sessions, also of those that were closed. */
  get counts(): LiveCounts {
    return { ...this.#counts };
  }

  /** Of the open sessions, in the order in which they were opened. */
  get sessions(): SessionMetrics[] {
    return [...this.#open].map(({ metrics }) => metrics);
  }

  /** @param waitingCalls calls of the session that wait for their turn */
  open(waitingCalls: () => number): SessionMeter {
    const meter = new SessionMeter(++this.#lastSession, this.#counts, waitingCalls, () =>
      this.#open.delete(meter),
    );
    this.#open.add(meter);
    return meter;
  }
}

/** Counts for one session. */
export class SessionMeter {
  readonly session: number;
  readonly close: () => void;
  readonly #own = nothing();
  readonly #all: Counts;
  readonly #waitingCalls: () => number;

  constructor(session: number, all: Counts, waitingCalls: () => number, close: () => void) {
    this.session = session;
    this.close = close;
    this.#all = all;
    this.#waitingCalls = waitingCalls;
  }

  get metrics(): SessionMetrics {
    return { session: this.session, ...this.#own, waitingCalls: this.#waitingCalls() };
  }

  /** A push or a revision has come through. */
  note({ tags, missedBudget }: LiveRow, rowCount: number, hasBudget: boolean): void {
    this.#add("rows", rowCount);
    if (!hasBudget) return;
    this.#add(missedBudget ? "missedBudgets" : "metBudgets", 1);
    for (const tag of Object.values(tags)) {
      if (tag === "late") this.#add("lateFactors", 1);
      else if (tag === "skipped") this.#add("skippedFactors", 1);
    }
  }

  #add(name: keyof Counts, count: number): void {
    this.#own[name] += count;
    this.#all[name] += count;
  }
}
