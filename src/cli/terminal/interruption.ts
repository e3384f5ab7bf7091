import { constants } from "node:os";

/** Thrown in what a signal of the system has ended. */
export class Interruption extends Error {
  readonly exitCode: number;

  constructor(signal: "SIGINT" | "SIGTERM") {
    super(`ended by ${signal}`);
    // The convention of shells.
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** Aborts when the process is asked to end, so that files under way are removed first; asked again it ends at once. */
export function interruptionSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => controller.abort(new Interruption(signal)));
  }
  return controller.signal;
}
