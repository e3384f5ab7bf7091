import { setTimeout as wait } from "node:timers/promises";

/** A source of time; tests have one of their own. */
export interface Clock {
  /** Ms since 1970. */
  now(): number;
  /** Waits until that time, or until the signal is aborted or the clock has been set back; never rejects. */
  sleepUntil(ms: number, signal: AbortSignal): Promise<void>;
}

/** A longer timer would not notice that the clock was set or that the machine slept. */
const TIMER_MS_MAX = 30_000;

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleepUntil(ms, signal) {
    for (let now = Date.now(), latest = now; !signal.aborted && now < ms && now >= latest; now = Date.now()) {
      latest = now;
      await wait(Math.min(TIMER_MS_MAX, ms - now), undefined, { signal }).catch(() => {});
    }
  },
};
