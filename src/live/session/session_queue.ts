import { suppressUnhandled } from "../../evaluation/awaiting.ts";

/** Runs the calls of a session one after the other. */
export class SessionQueue {
  #tail: Promise<unknown> = Promise.resolve();
  /** Calls that have not ended. */
  #pendingCount = 0;

  /** Whether a call waits for the running one. */
  get hasWaiting(): boolean {
    return this.#pendingCount > 1;
  }

  /**
   * Runs the work after all earlier work. If the signal is aborted while it waits, it rejects at once and does not run.
   * Later work also waits for a promise that is passed to `hold`.
   */
  async run<T>(
    signal: AbortSignal | undefined,
    work: (hold: (rest: Promise<unknown>) => void) => Promise<T>,
  ): Promise<T> {
    this.#pendingCount++;
    const before = this.#tail;
    const { promise: ended, resolve: end } = Promise.withResolvers<unknown>();
    this.#tail = before.then(() => ended);
    let rest: Promise<unknown> | null = null;
    try {
      await aborting(before, signal);
      return await work((more) => {
        rest = suppressUnhandled(more);
      });
    } finally {
      this.#pendingCount--;
      end(settled(rest));
    }
  }

  /** Resolves when all calls so far have ended. */
  async idle(): Promise<void> {
    await this.#tail;
  }
}

async function settled(rest: Promise<unknown> | null): Promise<void> {
  await rest?.catch(() => {});
}

async function aborting(before: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (!signal) {
    await before;
    return;
  }
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([before, suppressUnhandled(aborted)]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
