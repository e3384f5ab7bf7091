import { setTimeout as wait } from "node:timers/promises";

/** Time, so that tests may have their own. */
export interface Clock {
  /** Ms since 1970. */
  now(): number;
  /** Waits until that time, or until the signal is aborted or the clock has been set back; never rejects. */
  sleepUntil(ms: number, signal: AbortSignal): Promise<void>;
}

/** Clocks are set, and machines sleep: looked at that often. */
const LOOK_MS = 30_000;

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleepUntil(ms, signal) {
    for (let now = Date.now(), latest = now; !signal.aborted && now < ms && now >= latest; now = Date.now()) {
      latest = now;
      await wait(Math.min(LOOK_MS, ms - now), undefined, { signal }).catch(() => {});
    }
  },
};
