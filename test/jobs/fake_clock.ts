import type { Clock } from "../../src/jobs/clock/clock.ts";

/** A clock that tests advance. */
export class FakeClock implements Clock {
  #now: number;
  #sleepers: { readonly until: number; readonly wake: () => void }[] = [];

  constructor(now: string) {
    this.#now = Date.parse(now);
  }

  now(): number {
    return this.#now;
  }

  sleepUntil(ms: number, signal: AbortSignal): Promise<void> {
    if (ms <= this.#now || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#sleepers.push({ until: ms, wake: resolve });
      signal.addEventListener("abort", () => resolve());
    });
  }

  /** Advances the time from sleeper to sleeper and lets each one run. */
  async advanceTo(time: string): Promise<void> {
    const end = Date.parse(time);
    for (;;) {
      await settled();
      const next = this.#sleepers.filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.until);
      this.#wakeAll();
    }
    this.#now = end;
    await settled();
  }

  /** Jumps, as if the machine had slept or the clock were set; setting it back wakes all sleepers. */
  async jumpTo(time: string): Promise<void> {
    await settled();
    const before = this.#now;
    this.#now = Date.parse(time);
    this.#wakeAll(this.#now < before);
    await settled();
  }

  #wakeAll(isSetBack = false): void {
    const isDue = ({ until }: { until: number }) => isSetBack || until <= this.#now;
    const due = this.#sleepers.filter(isDue);
    this.#sleepers = this.#sleepers.filter((sleeper) => !isDue(sleeper));
    for (const { wake } of due) wake();
  }
}

/** Waits until everything that is ready has run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
