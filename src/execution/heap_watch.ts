/** A thread whose JavaScript heap can be looked at. */
export interface WatchedThread {
  /** Bytes in use; null if the thread has ended. */
  heapBytes(): Promise<number | null>;
  /** Ends the thread: what it runs is to blame. */
  endForHeap(): void;
}

/** Between two looks, in ms: a loop that does nothing else allocates some 50 MB meanwhile. */
const INTERVAL_MS = 50;

/**
 * Ends threads whose heap grows beyond a limit, while there is anything to watch. Node's own limit is the last resort: where
 * the allocation that meets it is a large one, such as that of an array that is enlarged, V8 ends the process.
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

  /** There is something to watch, until `end` has been called as often. */
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
