import type { ClusterReport } from "../../cluster/bridge/bridge.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import type { Engine } from "../../engine.ts";
import { type TraceSink, traceNowMs } from "../../execution/trace/trace_events.ts";
import type { StepSpan } from "../terminal/progress.ts";
import { type ChromeEvent, ChromeTrace, TRACKS } from "./chrome_trace.ts";
import type { RunRecord } from "./run_record.ts";
import type { TraceFile } from "./trace_file.ts";

/** Time between two samples of the memory in use. */
const SAMPLE_INTERVAL_MS = 100;

/** The trace of one evaluation, for a file that Perfetto reads, and for the record of a report. */
export class EvalTrace {
  readonly #file: TraceFile | null;
  readonly #record: RunRecord | null;
  readonly #chrome: ChromeTrace;
  #sampling: NodeJS.Timeout | undefined;

  /**
   * @param title name of the process in the trace
   * @param startMs start of the time line, in ms since 1970
   */
  constructor(file: TraceFile | null, record: RunRecord | null, title: string, startMs: number) {
    this.#file = file;
    this.#record = record;
    this.#chrome = new ChromeTrace(startMs);
    void this.#write(this.#chrome.head(title));
  }

  /** Receives events of the engine. A failure to write does not stop the evaluation; `close` throws it. */
  readonly sink: TraceSink = async (events) => {
    await this.#write(events.flatMap((event) => this.#chrome.eventsOf(event)));
  };

  /** A span from `startMs` until now, of the main thread by default. */
  span(name: string, startMs: number, args = {}, track: number = TRACKS.main): void {
    void this.#write([this.#chrome.span(track, name, startMs, traceNowMs(), args)]);
  }

  /** Passes items on; each wait for one is a span. */
  waited<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, void> {
    return this.#timed(TRACKS.main, "wait for a block", items);
  }

  /** Wraps a source; each read of a block is a span. */
  reading(source: PanelSource): PanelSource {
    return {
      ...source,
      blocks: (request) => this.#timed(TRACKS.reading, "read a block", source.blocks(request)),
    };
  }

  /** Samples the memory of the process and the managed memory of the engine until the trace is closed. */
  sampleMemory(engine: Engine): void {
    const sample = () => {
      const atMs = traceNowMs();
      const { managedBytes, keptBytes } = engine.memory;
      void this.#write([
        this.#chrome.counter("resident bytes", atMs, process.memoryUsage.rss()),
        this.#chrome.counter("accounted bytes", atMs, managedBytes + keptBytes),
      ]);
    };
    sample();
    this.#sampling = setInterval(sample, SAMPLE_INTERVAL_MS).unref();
  }

  /** Adds the workers of a cluster. Their clocks are not adjusted. */
  workers(report: ClusterReport | null): void {
    for (const [index, worker] of (report?.workers ?? []).entries())
      void this.#write(this.#chrome.worker(index, worker));
  }

  /** Adds the steps of the run and completes the file. @throws ResourceError E442; no file is left then. */
  async close(steps: readonly StepSpan[]): Promise<void> {
    clearInterval(this.#sampling);
    void this.#write(
      steps.map(({ name, startMs, endMs }) => this.#chrome.span(TRACKS.main, name, startMs, endMs)),
    );
    await this.#file?.close();
  }

  async *#timed<T>(track: number, name: string, items: AsyncIterable<T>): AsyncGenerator<T, void, void> {
    const iterator = items[Symbol.asyncIterator]();
    try {
      for (;;) {
        const startMs = traceNowMs();
        const next = await iterator.next();
        this.span(name, startMs, {}, track);
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }

  async #write(events: readonly ChromeEvent[]): Promise<void> {
    this.#record?.write(events);
    await this.#file?.write(events).catch(() => {});
  }
}
