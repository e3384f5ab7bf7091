import { constants } from "node:os";

/** The error of work that SIGINT or SIGTERM has ended. */
export class Interruption extends Error {
  readonly exitCode: number;

  constructor(signal: "SIGINT" | "SIGTERM") {
    super(`ended by ${signal}`);
    // The convention of shells.
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Aborts on the first SIGINT or SIGTERM, so that unfinished files are removed or completed. The second one ends the process
 * at once: journals and results allow it at any moment, and an exit would wait for threads that may wait for this one.
 */
export function interruptionSignal(): AbortSignal {
  const controller = new AbortController();
  const signals = ["SIGINT", "SIGTERM"] as const;
  const stop = (signal: (typeof signals)[number]) => {
    for (const each of signals) process.off(each, stop);
    controller.abort(new Interruption(signal));
  };
  for (const signal of signals) process.on(signal, stop);
  return controller.signal;
}
