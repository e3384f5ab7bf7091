import type ora from "ora";
import { traceNowMs } from "../../execution/trace/trace_events.ts";

/** Wall time of each step in ms, in the order of the steps. */
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
  readonly #spinner: ReturnType<typeof ora>;

  constructor(spinner: typeof ora) {
    // In a terminal of 0 columns (a script's pseudo-terminal) the spinner would redraw endlessly.
    const isEnabled = process.stderr.isTTY === true && process.stderr.columns > 0;
    this.#spinner = spinner({ stream: process.stderr, discardStdin: false, isEnabled });
  }

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const startMs = traceNowMs();
    if (this.#spinner.isEnabled) this.#spinner.start(name);
    try {
      return await work();
    } finally {
      this.spans.push({ name, startMs, endMs: traceNowMs() });
      this.#spinner.stop();
    }
  }

  get times(): StepTimes {
    return Object.fromEntries(this.spans.map(({ name, startMs, endMs }) => [name, endMs - startMs]));
  }

  note(text: string): void {
    this.#spinner.text = text;
  }
}
