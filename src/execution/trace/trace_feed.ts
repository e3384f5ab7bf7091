import type { Plan } from "../../plan/plan.ts";
import { type TraceEvent, type TraceSink, tracedNodes, traceNowMs } from "./trace_events.ts";
import { readEvents, TRACE_RECORD_NUMBERS } from "./trace_records.ts";

/** The main thread's side of a trace: passes batches to the sink, one at a time and in order. */
export class TraceFeed {
  /** Number of the scheduler's records that the sink has taken, which bounds the waiting ones. */
  readonly taken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #sink: TraceSink;
  #handedOver: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | null = null;

  constructor(sink: TraceSink, threads: number) {
    this.#sink = sink;
    this.#handOver(() => [{ kind: "started", atMs: traceNowMs(), threads }]);
  }

  noteOpened(plan: number, data: Plan): void {
    const atMs = traceNowMs();
    this.#handOver(() => [{ kind: "opened", atMs, plan, nodes: tracedNodes(data) }]);
  }

  take(records: Float64Array): void {
    this.#handOver(() => readEvents(records));
    this.#handedOver = this.#handedOver.then(() => {
      Atomics.add(this.taken, 0, records.length / TRACE_RECORD_NUMBERS);
    });
  }

  /** Waits until the sink has taken everything. @throws what the sink threw; it got no batch after that. */
  async finish(): Promise<void> {
    await this.#handedOver;
    if (this.#failure) throw this.#failure.error;
  }

  #handOver(events: () => readonly TraceEvent[]): void {
    this.#handedOver = this.#handedOver.then(async () => {
      if (this.#failure) return;
      try {
        await this.#sink(events());
      } catch (error) {
        this.#failure = { error };
      }
    });
  }
}
