/** A thread whose JavaScript heap can be measured. */
export interface WatchedThread {
  /** Bytes in use; null if the thread has ended. */
  heapBytes(): Promise<number | null>;
  /** Ends the thread because of what it runs. */
  endForHeap(): void;
}

/** Interval of the measurements in ms: a loop that only allocates gains some 50 MB meanwhile. */
const INTERVAL_MS = 50;

/**
 * Ends threads whose heap grows beyond a limit, while there is anything to watch. Node's own limit is the last resort:
 * if a large allocation exceeds it, such as that of a growing array, V8 ends the process.
 */
export class HeapWatch {
  readonly #limitBytes: number;
  readonly #threads: () => Iterable<WatchedThread>;
  readonly #asked = new Set<WatchedThread>();
  #reasons = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(limitBytes: number, threads: () => Iterable<WatchedThread>) {
    this.#limitBytes = limitBytes;
    this.#threads = threads;
  }

  /** Starts watching, until `end` has been called as often. */
  begin(): void {
    if (this.#reasons++ === 0) this.#timer = setInterval(() => this.#look(), INTERVAL_MS).unref();
  }

  end(): void {
    if (--this.#reasons === 0 && this.#timer) clearInterval(this.#timer);
  }

  #look(): void {
    for (const thread of this.#threads()) if (!this.#asked.has(thread)) void this.#lookAt(thread);
  }

  async #lookAt(thread: WatchedThread): Promise<void> {
    this.#asked.add(thread);
    const bytes = await thread.heapBytes();
    this.#asked.delete(thread);
    if (bytes !== null && bytes > this.#limitBytes) thread.endForHeap();
  }
}
