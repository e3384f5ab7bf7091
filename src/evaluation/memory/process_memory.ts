/** Node, code, and two threads that are idle: docs/sizing.md. */
const OWN_BYTES = 300 * 2 ** 20;
const THREAD_BYTES = 13 * 2 ** 20;
/** Threads that `OWN_BYTES` counts. */
const OWN_THREADS = 2;

/** Unmanaged memory is recent for this long. */
const RECENT_MS = 30_000;

/** What the system says that the process takes. */
export class ProcessMemory {
  /** What it takes without any evaluation. */
  readonly ownBytes: number;
  /** Unmanaged memory at the readings of the last while. */
  #readings: { readonly at: number; readonly unmanagedBytes: number }[] = [];

  constructor(threads: number) {
    this.ownBytes = OWN_BYTES + THREAD_BYTES * Math.max(0, threads - OWN_THREADS);
  }

  /** Resident bytes beyond its own: what counts against the limit. Reading them takes about 10 us. */
  get bytes(): number {
    return Math.max(0, process.memoryUsage.rss() - this.ownBytes);
  }

  /** Resident bytes, what of them is not managed, and what of that is recent. */
  account(managedBytes: number): {
    readonly processBytes: number;
    readonly unmanagedBytes: number;
    readonly unmanagedRecentBytes: number;
  } {
    const now = performance.now();
    const processBytes = process.memoryUsage.rss();
    const unmanagedBytes = Math.max(0, processBytes - managedBytes);
    this.#readings = this.#readings.filter(({ at }) => at > now - RECENT_MS);
    this.#readings.push({ at: now, unmanagedBytes });
    const least = Math.min(...this.#readings.map((reading) => reading.unmanagedBytes));
    return { processBytes, unmanagedBytes, unmanagedRecentBytes: unmanagedBytes - least };
  }
}
