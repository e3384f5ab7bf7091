/** Windows of up to so many values are remembered, so many for a plan in one executor: 0.8 MB. */
export const REMEMBERED_VALUES_MAX = 24;
const SLOTS = 4096;

/** Words of a slot: the task, and the bits of the window. */
const SLOT_WORDS = 1 + 2 * REMEMBERED_VALUES_MAX;

/** Stands in slots that are empty. */
const NO_TASK = -1;

/**
 * Values by task and window, in a table of its own: keys and entries of a map would be garbage at the pace of the cells
 * that are left open. Each window has two places next to each other; the one that was met longer ago gives way.
 */
export class DecidedWindows {
  #words = new Int32Array(0);
  readonly #values = new Float64Array(SLOTS);

  /** The value of a window; undefined if it is not remembered. */
  recall(task: number, window: Int32Array): number | undefined {
    if (this.#words.length === 0) return undefined;
    const slot = slotOf(task, window);
    if (this.#holds(slot, task, window)) return this.#values[slot];
    return this.#holds(slot ^ 1, task, window) ? this.#values[slot ^ 1] : undefined;
  }

  remember(task: number, window: Int32Array, value: number): void {
    // Most plans leave no window open.
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

/** All bits of all words decide: windows of small whole numbers differ in few. */
function slotOf(task: number, window: Int32Array): number {
  let hash = task;
  for (let i = 0; i < window.length; i++) {
    hash = Math.imul(hash ^ window[i]!, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash & (SLOTS - 1);
}
