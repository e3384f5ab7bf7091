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

/** Aborts on SIGINT or SIGTERM, so that unfinished files are removed; the second signal ends the process at once. */
export function interruptionSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => controller.abort(new Interruption(signal)));
  }
  return controller.signal;
}
