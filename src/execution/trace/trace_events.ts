import type { NodeKind, Plan } from "../../plan/plan.ts";

/**
 * What the threads of an engine did. Times are in ms since 1970, accurate to a microsecond, on one clock for all
 * threads.
 */
export type TraceEvent =
  | StartedEvent
  | OpenedEvent
  | PartEvent
  | ScheduledEvent
  | QueueEvent
  /** Number of events left out because the sink did not keep up. */
  | { readonly kind: "dropped"; readonly atMs: number; readonly count: number };

/** The first event: the engine has started, with executors 0 to `threads - 1`. */
export interface StartedEvent {
  readonly kind: "started";
  readonly atMs: number;
  readonly threads: number;
}

/** A plan was opened; events of its parts follow. */
export interface OpenedEvent {
  readonly kind: "opened";
  readonly atMs: number;
  readonly plan: number;
  readonly nodes: readonly TracedNode[];
}

export interface TracedNode {
  /** Its operator, or `5 tasks: ts_mean, subtract`; `input`. */
  readonly name: string;
  readonly kind: NodeKind;
  readonly partCount: number;
}

/** An executor has run one part of one node over one block. */
export interface PartEvent {
  readonly kind: "part";
  readonly executor: number;
  readonly plan: number;
  readonly block: number;
  readonly node: number;
  readonly part: number;
  readonly startMs: number;
  readonly ns: number;
  readonly hasFailed: boolean;
  /** The executor whose queue it was stolen from, and when. */
  readonly stolen: { readonly victim: number; readonly atMs: number } | null;
}

/** The scheduler has handled events and given instructions. */
export interface ScheduledEvent {
  readonly kind: "scheduled";
  readonly startMs: number;
  readonly ns: number;
  readonly eventCount: number;
  readonly instructionCount: number;
  /** Ready nodes with parts that no executor has. */
  readonly readyCount: number;
}

/** The queue of an executor has changed; `partCount` includes the running part. */
export interface QueueEvent {
  readonly kind: "queue";
  readonly atMs: number;
  readonly executor: number;
  readonly partCount: number;
}

/**
 * Takes events in batches, each executor's in order. The next batch waits until the returned promise is fulfilled;
 * meanwhile events wait in bounded memory, and are dropped and counted beyond it.
 */
export type TraceSink = (events: readonly TraceEvent[]) => void | Promise<void>;

/** Now, on the clock of the events, in any thread: each thread's `performance` has its own origin. */
export function traceNowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Most operators that a name lists. */
const NAMED_OPERATORS_MAX = 3;

/** The names of a plan's nodes in a trace. */
export function tracedNodes({ nodes, tasks }: Plan): TracedNode[] {
  return nodes.map(({ kind, partCount, tasks: ids }) => {
    const operators = ids.map((id) => tasks[id]!.operator);
    return { name: nodeName(operators), kind, partCount };
  });
}

function nodeName(operators: readonly string[]): string {
  if (operators.length <= 1) return operators[0] ?? "input";
  const distinct = [...new Set(operators)];
  const rest = distinct.length > NAMED_OPERATORS_MAX ? " ..." : "";
  return `${operators.length} tasks: ${distinct.slice(0, NAMED_OPERATORS_MAX).join(", ")}${rest}`;
}
