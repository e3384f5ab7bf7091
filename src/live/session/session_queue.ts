import { suppressUnhandled, unlessAborted } from "../../evaluation/awaiting.ts";
import { barTakenBack } from "../errors.ts";

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
  /** Takes back all later calls that follow, but for those that were called when this one was aborted already. */
  takeBackLater(): void;
  /** @throws ResourceError E412 if an earlier call has taken this one back. */
  throwIfTakenBack(): void;
}

interface PendingCall {
  readonly follows: boolean;
  readonly signal: AbortSignal | undefined;
  /** Calls ahead that were aborted when this one was called: its caller knows that they do not count. */
  readonly abortedAhead: readonly PendingCall[];
  isTakenBack: boolean;
  hasBegun: boolean;
}

/** Begins and ends the calls of a session in order: some run alone, others begin while earlier ones run. */
export class SessionQueue {
  /** Calls that have not ended, in order. */
  readonly #pending: PendingCall[] = [];
  /** Resolve when all calls so far have passed their turn, and when all have ended. */
  #passed: Promise<unknown> = Promise.resolve();
  #ended: Promise<unknown> = Promise.resolve();

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
    const abortedAhead = this.#pending.filter((ahead) => ahead.signal?.aborted);
    const call: PendingCall = { follows, signal, abortedAhead, isTakenBack: false, hasBegun: false };
    const [passed, earlier] = [this.#passed, this.#ended];
    const { promise: passing, resolve: pass } = Promise.withResolvers<unknown>();
    const { promise: ending, resolve: end } = Promise.withResolvers<unknown>();
    this.#pending.push(call);
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
      takeBackLater: () => {
        // It may have ended before all its rows: it has taken back others then.
        if (!this.#pending.includes(call)) return;
        const takenBack = [call];
        for (const later of this.#behind(call)) {
          if (!later.follows || takenBack.every((ahead) => later.abortedAhead.includes(ahead))) continue;
          later.isTakenBack = true;
          takenBack.push(later);
        }
      },
      throwIfTakenBack: () => {
        if (call.isTakenBack) throw barTakenBack();
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
