/** Wakes those that wait for something to change, in the order in which they came. */
export class Changes {
  #next = Promise.withResolvers<void>();

  note(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers<void>();
  }

  /** Resolves with the next change, or what may be one. @throws the signal's reason when aborted. */
  async next(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const wake = () => this.note();
    signal?.addEventListener("abort", wake);
    try {
      await this.#next.promise;
    } finally {
      signal?.removeEventListener("abort", wake);
    }
    signal?.throwIfAborted();
  }
}
