import type { Plan, PlanNode } from "../../plan/plan.ts";

/**
 * What the threads of an engine did. Times are in ms since 1970, with a fraction that is good for a microsecond, on one
 * clock for all threads.
 */
export type TraceEvent =
  | StartedEvent
  | OpenedEvent
  | PartEvent
  | ScheduledEvent
  | QueueEvent
  /** So many events were left out, because the sink did not keep up. */
  | { readonly kind: "dropped"; readonly atMs: number; readonly count: number };

/** The first event: the engine is there, with executors 0 to `threads - 1`. */
export interface StartedEvent {
  readonly kind: "started";
  readonly atMs: number;
  readonly threads: number;
}

/** A plan was opened; its parts follow. */
export interface OpenedEvent {
  readonly kind: "opened";
  readonly atMs: number;
  readonly plan: number;
  /** By id. */
  readonly nodes: readonly TracedNode[];
}

export interface TracedNode {
  /** What it does: its operator, or `5 tasks: ts_mean, subtract`; `input`. */
  readonly name: string;
  readonly kind: PlanNode["kind"];
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
  /** True if it threw. */
  readonly hasFailed: boolean;
  /** The executor in whose queue it waited until it was stolen, and when that was. */
  readonly stolen: { readonly victim: number; readonly atMs: number } | null;
}

/** The scheduler has taken some events and given some instructions. */
export interface ScheduledEvent {
  readonly kind: "scheduled";
  readonly startMs: number;
  readonly ns: number;
  readonly eventCount: number;
  readonly instructionCount: number;
  /** Nodes that are ready and have parts that no executor was given. */
  readonly readyCount: number;
}

/** The queue of an executor has changed: it holds so many parts, the one that is run included. */
export interface QueueEvent {
  readonly kind: "queue";
  readonly atMs: number;
  readonly executor: number;
  readonly partCount: number;
}

/**
 * Takes events in batches, each executor's in order. The next batch is not handed over before the returned promise is
 * fulfilled; events that come meanwhile wait in bounded memory, and are dropped and counted beyond it.
 */
export type TraceSink = (events: readonly TraceEvent[]) => void | Promise<void>;

/** Now, on the clock of the events, in any thread: each has an origin of its own. */
export function traceNowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Operators that a name lists. */
const NAMED_OPERATORS_MAX = 3;

/** The nodes of a plan as a trace names them. */
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
