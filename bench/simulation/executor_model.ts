import { COVERING_PARTS, NOTIFY_INTERVAL_MS } from "../../src/execution/executor.ts";
import { compareCalls } from "../../src/schedule/call_order.ts";
import type { RunInstruction } from "../../src/schedule/events.ts";

/** A part in an executor's hands. */
export interface QueuedPart {
  readonly run: RunInstruction;
  readonly queued: number;
}

/**
 * An executor as `src/execution/executor.ts` is one: it takes everything that is queued, runs the heaviest part of the
 * earliest call that may be run, and wakes the scheduler once few parts are still to be run, or after a while, or if some
 * executor idles.
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

  /** Takes the most urgent part that it sees at this time and may run. */
  takeFirst(now: number, isOpen: (run: RunInstruction) => boolean): QueuedPart | null {
    const { queue } = this;
    let best = -1;
    for (let i = 0; i < queue.length; i++) {
      const { queued, run } = queue[i]!;
      if (queued <= now && (!run.isAhead || isOpen(run)) && (best < 0 || isBefore(run, queue[best]!.run)))
        best = i;
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

  noteDone(): void {
    this.#doneCount++;
  }

  /** True if the scheduler is to be woken for what is done, before the next part or because there is none. */
  announce(now: number, hasIdle: boolean): boolean {
    if (this.#doneCount === 0) return false;
    const seen = this.queue.filter(({ queued }) => queued <= now).length;
    const isCovered = seen > COVERING_PARTS || this.#doneCount < seen;
    if (isCovered && !hasIdle && now - this.#announcedAt <= NOTIFY_INTERVAL_MS * 1e6) return false;
    this.#doneCount = 0;
    this.#announcedAt = now;
    return true;
  }
}

/** Of equals the one that came first. */
function isBefore(a: RunInstruction, b: RunInstruction): boolean {
  const order = compareCalls(a, b);
  return order < 0 || (order === 0 && a.weight > b.weight);
}
