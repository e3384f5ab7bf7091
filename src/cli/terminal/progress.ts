import type ora from "ora";
import { traceNowMs } from "../../execution/trace/trace_events.ts";
import { printNote } from "./terminal.ts";

/** Interval of the lines of work that is not watched on a terminal. */
const LINE_MS = 5000;

/** Wall time of each step in ms, to a tenth, in the order of the steps. */
export type StepTimes = Record<string, number>;

/** Start and end of a step, in ms since 1970. */
export interface StepSpan {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Says on stderr what is being done, a spinner on a terminal, elsewhere a line every few seconds, and measures each step.
 */
export class Progress {
  /** In the order of their ends. */
  readonly spans: StepSpan[] = [];
  readonly #spinner: ReturnType<typeof ora>;
  #name = "";
  #text = "";
  #startMs = 0;
  /** A step may have parts: what is done of each is shown for itself. */
  #part: string | null = null;
  #partStartMs = 0;
  #share = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(spinner: typeof ora) {
    // In a terminal of 0 columns (a script's pseudo-terminal) the spinner would redraw endlessly.
    const isEnabled = process.stderr.isTTY === true && process.stderr.columns > 0;
    // https://no-color.org
    const color = process.env["NO_COLOR"] ? false : "cyan";
    this.#spinner = spinner({ stream: process.stderr, discardStdin: false, isEnabled, color });
  }

  /** Does the work of one step. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const startMs = traceNowMs();
    this.start(name);
    try {
      return await work();
    } finally {
      this.spans.push({ name, startMs, endMs: traceNowMs() });
      this.stop();
    }
  }

  get times(): StepTimes {
    return Object.fromEntries(this.spans.map(({ name, startMs, endMs }) => [name, tenths(endMs - startMs)]));
  }

  start(name: string): void {
    this.#name = name;
    this.#text = name;
    this.#share = 0;
    this.#part = null;
    this.#startMs = performance.now();
    this.#partStartMs = this.#startMs;
    if (this.#spinner.isEnabled) this.#spinner.start(name);
    else this.#timer = setInterval(() => this.#printLine(), LINE_MS).unref();
  }

  /** @param share of the work, or of `what` of it, that is done, 0..1 */
  show(share: number, what = ""): void {
    if (this.#part !== null && this.#part !== what) this.#partStartMs = performance.now();
    this.#part = what;
    this.#share = share;
    const done = `${Math.floor(100 * share)} %`;
    this.#text = `${this.#name}: ${what === "" ? done : `${done} of ${what}`}`;
    this.#spinner.text = this.#text;
  }

  stop(): void {
    this.#spinner.stop();
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  #printLine(): void {
    const now = performance.now();
    const seconds = (now - this.#startMs) / 1000;
    const partSeconds = (now - this.#partStartMs) / 1000;
    const isWhole = this.#partStartMs === this.#startMs;
    const left = this.#share > 0 ? (partSeconds * (1 - this.#share)) / this.#share : null;
    const rest = left === null ? "" : `, about ${Math.ceil(left)} s left${isWhole ? "" : " for this part"}`;
    printNote(`... ${this.#text} after ${Math.round(seconds)} s${rest}`);
  }
}

/** Does work of one step with its progress. */
export async function withProgress<T>(
  name: string,
  work: (onProgress: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  const { default: ora } = await import("ora");
  const progress = new Progress(ora);
  return await progress.run(name, () => work((done, total) => progress.show(done / total)));
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
