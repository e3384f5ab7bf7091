import type ora from "ora";
import { printNote } from "./terminal.ts";

/** Interval of the lines of work that is not watched on a terminal. */
const LINE_MS = 5000;

/** Says on stderr what is being done: a spinner on a terminal, elsewhere a line every few seconds. */
export class Progress {
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
  progress.start(name);
  try {
    return await work((done, total) => progress.show(done / total));
  } finally {
    progress.stop();
  }
}
