import type ora from "ora";
import { traceNowMs } from "../../execution/trace/trace_events.ts";
import { Progress } from "../terminal/progress.ts";

/** Wall time of each step in ms, to a tenth, in the order of the steps. */
export type StepTimes = Record<string, number>;

/** Start and end of a step, in ms since 1970. */
export interface StepSpan {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Shows the current step and measures all steps. */
export class Steps {
  /** In the order of their ends. */
  readonly spans: StepSpan[] = [];
  readonly #progress: Progress;

  constructor(spinner: typeof ora) {
    this.#progress = new Progress(spinner);
  }

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const startMs = traceNowMs();
    this.#progress.start(name);
    try {
      return await work();
    } finally {
      this.spans.push({ name, startMs, endMs: traceNowMs() });
      this.#progress.stop();
    }
  }

  get times(): StepTimes {
    return Object.fromEntries(this.spans.map(({ name, startMs, endMs }) => [name, tenths(endMs - startMs)]));
  }

  /** @param share of the step that is done, 0..1 */
  show(share: number, what = ""): void {
    this.#progress.show(share, what);
  }
}

/** To a tenth of a ms. */
export function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** `read 12 ms, compile 1.20 s`. */
export function timesText(times: StepTimes): string {
  return Object.entries(times)
    .map(([name, ms]) => `${name} ${formatMs(ms)}`)
    .join(", ");
}

export function formatMs(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
