import type { RunInstruction } from "../../src/schedule/events.ts";

/** A part completes so many ns after the scheduler was last woken for others: it is woken at once. */
const NOTIFY_INTERVAL_NS = 100_000;

/** A part in an executor's hands. */
export interface QueuedPart {
  readonly run: RunInstruction;
  readonly queued: number;
}

/**
 * An executor as `src/execution/executor.ts` is one: it takes everything that is queued, runs the heaviest part of the
 * earliest call, and wakes the scheduler once as many parts are done as are still to be run, or after a while.
 */
export class ExecutorModel {
  readonly id: number;
  /** Given and not begun; instructions that are on their way included. */
  readonly queue: QueuedPart[] = [];
  running: QueuedPart | null = null;
  /** When it last ran dry. */
  idleSince = Number.NEGATIVE_INFINITY;
  /** When it wakes up, if it has been sent something since. */
  wakesAt = Number.NEGATIVE_INFINITY;
  #doneCount = 0;
  #announcedAt = 0;

  constructor(id: number) {
    this.id = id;
  }

  /** Takes the most urgent part that it sees at this time. */
  takeFirst(now: number): QueuedPart | null {
    const { queue } = this;
    let best = -1;
    for (let i = 0; i < queue.length; i++) {
      if (queue[i]!.queued <= now && (best < 0 || isBefore(queue[i]!.run, queue[best]!.run))) best = i;
    }
    return best < 0 ? null : queue.splice(best, 1)[0]!;
  }

  /** Takes a part out unless it has been begun. */
  giveUp(ticket: number): boolean {
    const index = this.queue.findIndex(({ run }) => run.ticket === ticket);
    if (index < 0) return false;
    this.queue.splice(index, 1);
    return true;
  }

  /** A part is done; true if the scheduler is woken for it. */
  announce(now: number): boolean {
    this.#doneCount++;
    const seen = this.queue.filter(({ queued }) => queued <= now).length;
    if (this.#doneCount < seen && now - this.#announcedAt <= NOTIFY_INTERVAL_NS) return false;
    this.#doneCount = 0;
    this.#announcedAt = now;
    return true;
  }
}

/** Of equals the one that came first. */
function isBefore(a: RunInstruction, b: RunInstruction): boolean {
  return a.call < b.call || (a.call === b.call && a.weight > b.weight);
}
