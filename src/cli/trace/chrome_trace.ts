/** Trace events in the format of Chrome, which Perfetto and chrome://tracing read: one JSON object each. */
import type { WorkerReport } from "../../cluster/bridge/bridge.ts";
import type { TracedNode, TraceEvent } from "../../execution/trace/trace_events.ts";

/** The process of the engine. */
const PROCESS = 1;
/** Its tracks; those of executors follow from `EXECUTOR_TRACK` on. */
export const TRACKS = { main: 1, reading: 2, scheduler: 3 } as const;
const EXECUTOR_TRACK = 10;
/** Process ids of workers of a cluster start here. */
const WORKER_PROCESS = 2;

type Args = Readonly<Record<string, unknown>>;
type PartEvent = Extract<TraceEvent, { kind: "part" }>;
type ScheduledEvent = Extract<TraceEvent, { kind: "scheduled" }>;

/** An event of the format; `ts` and `dur` are in us. */
export interface ChromeEvent {
  readonly name: string;
  readonly ph: "X" | "C" | "M" | "i" | "s" | "f";
  readonly pid: number;
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly cat?: string;
  readonly args?: Args;
  readonly [other: string]: unknown;
}

/** Converts events of an engine and of the main thread to events of the format, on one time line. */
export class ChromeTrace {
  /** Start of the time line, in ms since 1970. */
  readonly #startMs: number;
  readonly #nodes = new Map<number, readonly TracedNode[]>();
  /** End of each executor's last part, in ns. */
  readonly #busyUntil = new Map<number, number>();
  #stealCount = 0;

  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** Names of the process and of the tracks that every trace has. */
  head(title: string): ChromeEvent[] {
    return [
      { name: "process_name", ph: "M", pid: PROCESS, tid: 0, args: { name: title } },
      ...named(TRACKS.main, "main thread"),
      ...named(TRACKS.reading, "reading"),
      ...named(TRACKS.scheduler, "scheduler"),
    ];
  }

  /** A span of the main thread; times in ms since 1970. */
  span(track: number, name: string, startMs: number, endMs: number, args: Args = {}): ChromeEvent {
    return this.#complete(track, name, "main", this.#ns(startMs), this.#ns(endMs), args);
  }

  counter(name: string, atMs: number, value: number): ChromeEvent {
    return counted(name, this.#ns(atMs), value);
  }

  eventsOf(event: TraceEvent): ChromeEvent[] {
    switch (event.kind) {
      case "started":
        return Array.from({ length: event.threads }, (_, executor) =>
          named(EXECUTOR_TRACK + executor, `executor ${executor}`),
        ).flat();
      case "opened":
        this.#nodes.set(event.plan, event.nodes);
        return [this.#instant(TRACKS.main, `plan ${event.plan} opened`, event.atMs)];
      case "part":
        return this.#part(event);
      case "scheduled":
        return this.#scheduled(event);
      case "queue":
        return [this.counter(`queue of executor ${event.executor}`, event.atMs, event.partCount)];
      case "dropped":
        return [this.#instant(TRACKS.scheduler, `${event.count} events left out`, event.atMs)];
    }
  }

  /** A worker as a process of the trace, with a track per executor. */
  worker(index: number, { address, job }: WorkerReport): ChromeEvent[] {
    const pid = WORKER_PROCESS + index;
    const tasks = job?.trace ?? [];
    const executors = [...new Set(tasks.map(({ executor }) => executor))];
    const slices = tasks.map(({ key, executor, startMs, ns, ...args }) => {
      const startNs = this.#ns(startMs);
      return { ...this.#complete(executor + 1, key, "task", startNs, startNs + ns, args), pid };
    });
    const tracks = executors.flatMap((executor) => named(executor + 1, `executor ${executor}`));
    return [
      { name: "process_name", ph: "M", pid, tid: 0, args: { name: `worker ${address}` } },
      ...tracks.map((track) => ({ ...track, pid })),
      ...slices,
    ];
  }

  #part(event: PartEvent): ChromeEvent[] {
    const { executor, plan, block, node, part, ns, hasFailed } = event;
    const { name, kind } = this.#nodes.get(plan)![node]!;
    // Times are doubles of ms since 1970, exact to a quarter of a us. Slices must not overlap by this error.
    const beganNs = this.#ns(event.startMs);
    const startNs = Math.max(beganNs, this.#busyUntil.get(executor) ?? 0);
    const endNs = Math.max(startNs, beganNs + ns);
    this.#busyUntil.set(executor, endNs);
    const failure = hasFailed ? { failed: true } : {};
    const args = { plan, block, node, part, kind, ns, ...failure };
    const slice = this.#complete(EXECUTOR_TRACK + executor, name, kind, startNs, endNs, args);
    return event.stolen ? [slice, ...this.#steal(event.stolen, executor, startNs)] : [slice];
  }

  /** An instant on the victim's track, and an arrow from there to the thief's part, which must be listed before. */
  #steal({ victim, atMs }: NonNullable<PartEvent["stolen"]>, thief: number, startNs: number): ChromeEvent[] {
    const arrow = { name: "steal", cat: "steal", id: ++this.#stealCount, pid: PROCESS };
    const tid = EXECUTOR_TRACK + victim;
    return [
      this.#instant(tid, `stolen by executor ${thief}`, atMs),
      { ...arrow, ph: "s", tid, ts: this.#ns(atMs) / 1000 },
      { ...arrow, ph: "f", bp: "e", tid: EXECUTOR_TRACK + thief, ts: startNs / 1000 },
    ];
  }

  #scheduled({ startMs, ns, eventCount, instructionCount, readyCount }: ScheduledEvent): ChromeEvent[] {
    const startNs = this.#ns(startMs);
    const args = { events: eventCount, instructions: instructionCount };
    return [
      this.#complete(TRACKS.scheduler, "handleAll", "scheduler", startNs, startNs + ns, args),
      counted("ready nodes", startNs + ns, readyCount),
    ];
  }

  #complete(tid: number, name: string, cat: string, startNs: number, endNs: number, args: Args): ChromeEvent {
    // Both ends are whole ns, so that nested slices stay nested after rounding.
    const dur = (endNs - startNs) / 1000;
    return { name, cat, ph: "X", pid: PROCESS, tid, ts: startNs / 1000, dur, args };
  }

  #instant(tid: number, name: string, atMs: number): ChromeEvent {
    return { name, ph: "i", s: "t", pid: PROCESS, tid, ts: this.#ns(atMs) / 1000 };
  }

  #ns(atMs: number): number {
    return Math.max(0, Math.round((atMs - this.#startMs) * 1e6));
  }
}

function counted(name: string, atNs: number, value: number): ChromeEvent {
  return { name, ph: "C", pid: PROCESS, tid: 0, ts: atNs / 1000, args: { value } };
}

/** Name and sort order of a track. */
function named(tid: number, name: string): ChromeEvent[] {
  return [
    { name: "thread_name", ph: "M", pid: PROCESS, tid, args: { name } },
    { name: "thread_sort_index", ph: "M", pid: PROCESS, tid, args: { sort_index: tid } },
  ];
}
