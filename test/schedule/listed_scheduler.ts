import type { Instruction, SchedulerEvent } from "../../src/schedule/events.ts";
import { Scheduler, type SchedulerOptions } from "../../src/schedule/scheduler.ts";

/** A scheduler that lists its instructions. */
export class ListedScheduler {
  readonly scheduler: Scheduler;

  constructor(options: SchedulerOptions = {}) {
    this.scheduler = new Scheduler(options);
  }

  handle(event: SchedulerEvent): Instruction[] {
    return this.handleAll([event]);
  }

  handleAll(events: readonly SchedulerEvent[]): Instruction[] {
    const list: Instruction[] = [];
    this.scheduler.handleAll(events, (instruction) => list.push(instruction));
    return list;
  }

  runAhead(): Instruction[] {
    const list: Instruction[] = [];
    this.scheduler.runAhead((instruction) => list.push(instruction));
    return list;
  }
}
