import { setTimeout as wait } from "node:timers/promises";

/** Time, so that tests may have their own. */
export interface Clock {
  /** Ms since 1970. */
  now(): number;
  /** Waits until that time, or until the signal is aborted; never rejects. */
  sleepUntil(ms: number, signal: AbortSignal): Promise<void>;
}

/** Clocks are set, and machines sleep: looked at that often. */
const LOOK_MS = 30_000;

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleepUntil(ms, signal) {
    while (!signal.aborted && Date.now() < ms) {
      await wait(Math.min(LOOK_MS, ms - Date.now()), undefined, { signal }).catch(() => {});
    }
  },
};
