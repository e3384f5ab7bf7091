import { UsageError } from "../../errors.ts";
import { type ArgumentKind, FLAG, FUNCTION, shownValue } from "../../text/argument_kinds.ts";
import { type OptionKinds, optionsOf } from "../../text/option_kinds.ts";

/** A thread that stamps the parts that it runs. */
export interface StampedThread {
  readonly id: number;
  /** Counts the begins and ends of parts: odd while one runs. */
  readonly turn: number;
  /** The part that it has begun last. */
  readonly running: { readonly plan: number; readonly node: number; readonly part: number };
  terminate(): void;
}

/** A part that takes much longer than estimated. */
export interface HangingPart {
  /** Index of the executor. */
  readonly executor: number;
  /** The operators of its node. */
  readonly operators: readonly string[];
  /** Index of the node in its plan. */
  readonly node: number;
  /** Index of the part in its node. */
  readonly part: number;
  /** How long it has run so far. */
  readonly ms: number;
  /** How long parts of the node take, by estimate and measurement. */
  readonly estimatedMs: number;
}

export interface HangOptions {
  /** Parts that take less are not reported, in ms. Default 10,000. */
  readonly limitMs?: number | undefined;
  /**
   * Ends the thread of a reported part; another one runs it again. A part that ends two threads in a row fails its call
   * with E402. Default false.
   */
  readonly replaces?: boolean | undefined;
  /** Takes each report. Default: a warning of the process. */
  readonly onHang?: ((part: HangingPart) => void) | undefined;
}

/** A part hangs if it takes this multiple of its estimate. */
const TIMES_ESTIMATE = 50;
export const LIMIT_MS_DEFAULT = 10_000;
const INTERVAL_MS_MAX = 1000;

export const HANG_OPTIONS: OptionKinds<HangOptions> = {
  limitMs: {
    what: "a positive number of ms",
    fits: (given) => typeof given === "number" && given > 0,
    remedy: "give a positive number of ms, or hang: false",
    refuse: (_, given) =>
      new UsageError(
        "E528",
        `hang.limitMs is ${shownValue(given)}`,
        "give a positive number of ms, or hang: false",
      ),
  },
  replaces: FLAG,
  onHang: FUNCTION,
};

const WATCHED = optionsOf("hang", HANG_OPTIONS);
export const HANG: ArgumentKind = { ...WATCHED, fits: (given) => given === false || WATCHED.fits(given) };

type Described = Pick<HangingPart, "operators" | "estimatedMs">;

/** Reports parts that hang, each once, while anything runs. */
export class HangWatch {
  readonly #limitMs: number;
  readonly #options: HangOptions;
  readonly #threads: () => Iterable<StampedThread>;
  readonly #describe: (thread: StampedThread) => Described | null;
  /** The turn of each busy thread when it was first seen, and when; reported ones are in the future. */
  readonly #seen = new Map<StampedThread, { readonly turn: number; since: number }>();
  #reasons = 0;
  #hangCount = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @param describe what a thread runs; null if that is not known any more */
  constructor(
    options: HangOptions,
    threads: () => Iterable<StampedThread>,
    describe: (thread: StampedThread) => Described | null,
  ) {
    this.#options = options;
    this.#limitMs = options.limitMs ?? LIMIT_MS_DEFAULT;
    this.#threads = threads;
    this.#describe = describe;
  }

  /** Parts reported so far. */
  get hangCount(): number {
    return this.#hangCount;
  }

  /** Starts watching, until `end` has been called as often. */
  begin(): void {
    if (this.#reasons++ > 0) return;
    const intervalMs = Math.min(INTERVAL_MS_MAX, this.#limitMs / 4);
    this.#timer ??= setInterval(() => this.#look(), intervalMs).unref();
  }

  end(): void {
    this.#reasons--;
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    for (const thread of this.#threads()) {
      const { turn } = thread;
      const seen = this.#seen.get(thread);
      if (turn % 2 === 0) this.#seen.delete(thread);
      else if (seen?.turn !== turn) this.#seen.set(thread, { turn, since: now });
      else if (now - seen.since > this.#limitMs) this.#note(thread, seen, now);
    }
    if (this.#reasons > 0 || !this.#timer) return;
    // The last run has ended some time ago: a session starts and ends one with every row.
    clearInterval(this.#timer);
    this.#timer = null;
    this.#seen.clear();
  }

  #note(thread: StampedThread, seen: { readonly turn: number; since: number }, now: number): void {
    const described = this.#describe(thread);
    const ms = now - seen.since;
    if (described === null || ms <= TIMES_ESTIMATE * described.estimatedMs) return;
    seen.since = Number.POSITIVE_INFINITY;
    this.#hangCount++;
    const { node, part } = thread.running;
    const { replaces = false, onHang = warn } = this.#options;
    onHang({ executor: thread.id, node, part, ms, ...described });
    if (replaces && thread.turn === seen.turn) thread.terminate();
  }
}

function warn({ operators, executor, ms, estimatedMs }: HangingPart): void {
  const seconds = (ms / 1000).toFixed(1);
  process.emitWarning(
    `${operators.join(", ")} has run for ${seconds} s on executor ${executor}, estimated are ${estimatedMs.toPrecision(2)} ms`,
    { type: "HangWarning" },
  );
}
