/** Cache limits per plan and executor: windows of at most this many values, and `SLOTS` entries: 0.8 MB. */
export const REMEMBERED_VALUES_MAX = 24;
const SLOTS = 4096;

/** Words of a slot: the task, and the bits of the window. */
const SLOT_WORDS = 1 + 2 * REMEMBERED_VALUES_MAX;

/** The task of an empty slot. */
const NO_TASK = -1;

/**
 * Caches reference results by task and window. A table of fixed size: the keys and entries of a map would be garbage at
 * the rate of open cells. Each window has two adjacent slots; the older entry is replaced.
 */
export class DecidedWindows {
  #words = new Int32Array(0);
  readonly #values = new Float64Array(SLOTS);

  /** The value of a window; undefined if it is not cached. */
  recall(task: number, window: Int32Array): number | undefined {
    if (this.#words.length === 0) return undefined;
    const slot = slotOf(task, window);
    if (this.#holds(slot, task, window)) return this.#values[slot];
    return this.#holds(slot ^ 1, task, window) ? this.#values[slot ^ 1] : undefined;
  }

  remember(task: number, window: Int32Array, value: number): void {
    // Most plans leave no window open, so the table is allocated on first use.
    if (this.#words.length === 0) this.#words = new Int32Array(SLOTS * SLOT_WORDS).fill(NO_TASK);
    const words = this.#words;
    const slot = slotOf(task, window);
    const start = slot * SLOT_WORDS;
    words.copyWithin((slot ^ 1) * SLOT_WORDS, start, start + SLOT_WORDS);
    this.#values[slot ^ 1] = this.#values[slot]!;
    words[start] = task;
    words.set(window, start + 1);
    this.#values[slot] = value;
  }

  #holds(slot: number, task: number, window: Int32Array): boolean {
    const words = this.#words;
    const start = slot * SLOT_WORDS;
    if (words[start] !== task) return false;
    for (let i = 0; i < window.length; i++) if (words[start + 1 + i] !== window[i]) return false;
    return true;
  }
}

/** All bits of all words count: windows of small whole numbers differ in few. */
function slotOf(task: number, window: Int32Array): number {
  let hash = task;
  for (let i = 0; i < window.length; i++) {
    hash = Math.imul(hash ^ window[i]!, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash & (SLOTS - 1);
}
