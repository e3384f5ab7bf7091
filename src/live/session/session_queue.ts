import { suppressUnhandled } from "../../evaluation/awaiting.ts";

/** Runs what is asked of a session one after the other. */
export class SessionQueue {
  #tail: Promise<unknown> = Promise.resolve();
  /** What has been asked for and is not done. */
  #pendingCount = 0;

  /** True if something waits for the work that is under way. */
  get hasWaiting(): boolean {
    return this.#pendingCount > 1;
  }

  /**
   * Runs the work when all before it is done, unless the signal is aborted while it waits: then the promise rejects at
   * once and nothing is run. What comes next waits for what `hold` is given as well.
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

  /** Resolves when all that was asked for so far is done. */
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
