import { suppressUnhandled, unlessAborted } from "../../evaluation/awaiting.ts";

/** The turn of a call of a session. */
export interface Turn {
  /** Resolves when all earlier calls have ended. */
  readonly earlier: Promise<unknown>;
  /** Lets the next call begin that follows, before this one has ended. */
  pass(): void;
  /** Later calls wait for the promise as well. */
  hold(rest: Promise<unknown>): void;
  /** Whether there are later calls. */
  hasLater(): boolean;
  /** Resolves when another call comes. */
  later(): Promise<void>;
  /** Refuses the later calls so far that follow. */
  refuseLater(reason: Error): void;
  /** @throws the reason for which an earlier call has refused this one. */
  throwIfRefused(): void;
}

interface PendingCall {
  readonly follows: boolean;
  refusal: Error | null;
  hasBegun: boolean;
}

/** Begins and ends the calls of a session in order: some run alone, others begin while earlier ones run. */
export class SessionQueue {
  /** Calls that have not ended, in order. */
  readonly #pending: PendingCall[] = [];
  /** Resolve when all calls so far have passed their turn, and when all have ended. */
  #passed: Promise<unknown> = Promise.resolve();
  #ended: Promise<unknown> = Promise.resolve();
  /** Resolves when the next call comes. */
  #called = Promise.withResolvers<void>();

  /** Calls that wait for their turn. */
  get waitingCount(): number {
    return this.#pending.filter(({ hasBegun }) => !hasBegun).length;
  }

  /** Runs the work when all earlier work has ended. If the signal is aborted while it waits, it rejects and does not run. */
  async run<T>(signal: AbortSignal | undefined, work: (turn: Turn) => Promise<T>): Promise<T> {
    return await this.#call(signal, false, work);
  }

  /** Runs the work when all earlier work has passed its turn; else as `run`. */
  async follow<T>(signal: AbortSignal | undefined, work: (turn: Turn) => Promise<T>): Promise<T> {
    return await this.#call(signal, true, work);
  }

  /** Resolves when all calls so far have ended. */
  async idle(): Promise<void> {
    await this.#ended;
  }

  async #call<T>(
    signal: AbortSignal | undefined,
    follows: boolean,
    work: (turn: Turn) => Promise<T>,
  ): Promise<T> {
    const call: PendingCall = { follows, refusal: null, hasBegun: false };
    const [passed, earlier] = [this.#passed, this.#ended];
    const { promise: passing, resolve: pass } = Promise.withResolvers<unknown>();
    const { promise: ending, resolve: end } = Promise.withResolvers<unknown>();
    this.#pending.push(call);
    this.#called.resolve();
    this.#called = Promise.withResolvers();
    this.#passed = passed.then(() => passing);
    this.#ended = earlier.then(() => ending);
    let rest: Promise<unknown> | null = null;
    const turn: Turn = {
      earlier,
      pass: () => pass(null),
      hold: (more) => {
        rest = settled(more);
        this.#passed = Promise.all([this.#passed, rest]);
      },
      hasLater: () => this.#behind(call).length > 0,
      later: () => this.#called.promise,
      refuseLater: (reason) => {
        for (const later of this.#behind(call)) if (later.follows) later.refusal ??= reason;
      },
      throwIfRefused: () => {
        if (call.refusal !== null) throw call.refusal;
      },
    };
    try {
      await unlessAborted(follows ? passed : earlier, signal);
      call.hasBegun = true;
      return await work(turn);
    } finally {
      this.#pending.splice(this.#pending.indexOf(call), 1);
      pass(rest);
      end(rest);
    }
  }

  /** The calls after one, which may have ended if all before it have. */
  #behind(call: PendingCall): PendingCall[] {
    return this.#pending.slice(this.#pending.indexOf(call) + 1);
  }
}

async function settled(promise: Promise<unknown>): Promise<void> {
  await suppressUnhandled(promise).catch(() => {});
}
