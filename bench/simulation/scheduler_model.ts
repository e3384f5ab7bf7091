import type { Instruction, SchedulerEvent } from "../../src/schedule/events.ts";
import { Scheduler, type SchedulerOptions } from "../../src/schedule/scheduler.ts";
import type { MachineCosts } from "./machine.ts";

interface Letter {
  readonly visible: number;
  readonly event: SchedulerEvent;
}

/** What the scheduler decides, and when. */
export interface Timed {
  readonly instruction: Instruction;
  readonly time: number;
}

/** The one thread of the scheduler: events wait for it, and what it decides takes it time. */
export class SchedulerModel {
  /** Until when it works on the events that it took last. */
  busyUntil = 0;
  /** When it looks next, if that is settled. */
  looksAt = Number.POSITIVE_INFINITY;
  busyNs = 0;
  readonly #scheduler: Scheduler;
  readonly #machine: MachineCosts;
  #letters: Letter[] = [];

  constructor(options: SchedulerOptions, machine: MachineCosts) {
    this.#scheduler = new Scheduler(options);
    this.#machine = machine;
  }

  /** What happens before the clock runs. */
  prepare(events: readonly SchedulerEvent[]): void {
    this.#scheduler.handleAll(events, () => {});
  }

  post(event: SchedulerEvent, visible: number): void {
    this.#letters.push({ visible, event });
  }

  /**
   * Takes all that can be seen, in bulk; null if there is nothing. Each instruction comes with its time: while the
   * scheduler decides what comes later, the first are carried out.
   */
  look(now: number): readonly Timed[] | null {
    const events = this.#letters.filter(({ visible }) => visible <= now).map(({ event }) => event);
    if (events.length === 0) return null;
    this.#letters = this.#letters.filter(({ visible }) => visible > now);
    this.busyUntil = now + this.#machine.eventNs * events.length;
    const timed: Timed[] = [];
    const carryOut = (instruction: Instruction) => {
      if (instruction.kind === "run") this.busyUntil += this.#machine.handOutNs;
      timed.push({ instruction, time: this.busyUntil });
    };
    this.#scheduler.handleAll(events, carryOut);
    this.#scheduler.runAhead(carryOut);
    this.busyNs += this.busyUntil - now;
    return timed;
  }
}
