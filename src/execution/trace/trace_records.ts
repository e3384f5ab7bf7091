import type { PartEvent, TraceEvent } from "./trace_events.ts";

/**
 * Events of the scheduler's thread as rows of doubles: no object per part is allocated there, and a batch is one
 * transfer. The first number of a row is its kind, the others are the fields in the order of `readEvent`.
 */
export const TRACE_RECORD_NUMBERS = 11;

/** First number of a row. */
export const TRACE_RECORD = { part: 0, scheduled: 1, queue: 2, dropped: 3 } as const;

export function readEvents(records: Float64Array): TraceEvent[] {
  const events: TraceEvent[] = [];
  for (let offset = 0; offset < records.length; offset += TRACE_RECORD_NUMBERS) {
    events.push(readEvent(records, offset));
  }
  return events;
}

function readEvent(records: Float64Array, offset: number): TraceEvent {
  const number = (index: number): number => records[offset + index]!;
  const atMs = number(1);
  switch (number(0)) {
    case TRACE_RECORD.part:
      return readPart(number, atMs);
    case TRACE_RECORD.scheduled:
      return {
        kind: "scheduled",
        startMs: atMs,
        ns: number(2),
        eventCount: number(3),
        instructionCount: number(4),
        readyCount: number(5),
      };
    case TRACE_RECORD.queue:
      return { kind: "queue", atMs, executor: number(2), partCount: number(3) };
    default:
      return { kind: "dropped", atMs, count: number(2) };
  }
}

function readPart(number: (index: number) => number, startMs: number): PartEvent {
  const victim = number(9);
  return {
    kind: "part",
    startMs,
    ns: number(2),
    executor: number(3),
    plan: number(4),
    block: number(5),
    node: number(6),
    part: number(7),
    hasFailed: number(8) === 1,
    stolen: victim < 0 ? null : { victim, atMs: number(10) },
  };
}
