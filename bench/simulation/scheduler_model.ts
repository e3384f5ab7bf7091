import type { Instruction, SchedulerEvent } from "../../src/schedule/events.ts";
import { Scheduler, type SchedulerOptions } from "../../src/schedule/scheduler.ts";
import type { SchedulerTime } from "./simulation.ts";

interface Letter {
  readonly visible: number;
  readonly event: SchedulerEvent;
}

/** This many schedulers do the same; the quickest one's time counts, so that other load of the machine is not charged. */
const REPLICAS = 3;

/** The one thread of the scheduler: events wait for it, and what it decides takes it time. */
export class SchedulerModel {
  /** Until when it works on the events that it took last. */
  busyUntil = 0;
  /** When it looks next, if that is settled. */
  looksAt = Number.POSITIVE_INFINITY;
  busyNs = 0;
  /** More than one if their time is measured. */
  readonly #schedulers: readonly Scheduler[];
  readonly #time: SchedulerTime;
  #letters: Letter[] = [];

  constructor(options: SchedulerOptions, time: SchedulerTime) {
    const length = time.kind === "measured" ? REPLICAS : 1;
    this.#schedulers = Array.from({ length }, () => new Scheduler(options));
    this.#time = time;
  }

  /** What happens before the clock runs. */
  prepare(events: readonly SchedulerEvent[]): void {
    for (const scheduler of this.#schedulers) scheduler.handleAll(events);
  }

  post(event: SchedulerEvent, visible: number): void {
    this.#letters.push({ visible, event });
  }

  /** Takes all that can be seen, in bulk; null if there is nothing. The instructions hold from `busyUntil` on. */
  look(now: number): readonly Instruction[] | null {
    const events = this.#letters.filter(({ visible }) => visible <= now).map(({ event }) => event);
    if (events.length === 0) return null;
    this.#letters = this.#letters.filter(({ visible }) => visible > now);
    const { instructions, measuredNs } = this.#handleAll(events);
    const time = this.#time;
    const ns = time.kind === "fixed" ? time.nsPerEvent * events.length : time.factor * measuredNs;
    this.busyUntil = now + ns;
    this.busyNs += ns;
    return instructions;
  }

  #handleAll(events: readonly SchedulerEvent[]): { instructions: Instruction[]; measuredNs: number } {
    let instructions: Instruction[] = [];
    let measuredNs = Number.POSITIVE_INFINITY;
    for (const scheduler of this.#schedulers) {
      const started = performance.now();
      instructions = [...scheduler.handleAll(events), ...scheduler.runAhead()];
      measuredNs = Math.min(measuredNs, (performance.now() - started) * 1e6);
    }
    return { instructions, measuredNs };
  }
}
