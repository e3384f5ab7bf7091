import { BLOCK_SLOT_MASK, BLOCK_SLOTS } from "./block_slots.ts";

const BITS = 32;

/** What the marks of a plan take: shared by its main thread, its executors and the scheduler's thread. */
export interface MarkWords {
  /** By node: one more than the last block that it has ended; block numbers wrap around. */
  readonly ended: Int32Array<SharedArrayBuffer>;
  /** For each slot of blocks, a bit for each part that has ended of nodes of several parts. */
  readonly parts: Int32Array<SharedArrayBuffer>;
  /** For each slot of blocks 1 if nobody needs the block any more, or a part of it has failed. */
  readonly cut: Int32Array<SharedArrayBuffer>;
}

/**
 * Which parts and nodes of the blocks under way have ended: an executor marks a part before it reports it, and others see
 * by the marks alone that what they have ahead may run. To mark twice changes nothing, so a part that is marked and was
 * not reported, for its thread was lost between, need not run again.
 */
export class NodeMarks {
  readonly words: MarkWords;
  readonly #partCounts: readonly number[];
  /** By node: the first of its words in a slot; at the end their number. */
  readonly #firstWords: Int32Array;

  /** Attaches to words of `create`, in any thread. */
  constructor(nodes: readonly { readonly partCount: number }[], words: MarkWords) {
    this.words = words;
    this.#partCounts = nodes.map(({ partCount }) => partCount);
    this.#firstWords = firstWordsOf(this.#partCounts);
  }

  /** @param firstNumber of the plan's first block */
  static create(nodes: readonly { readonly partCount: number }[], firstNumber: number): NodeMarks {
    const wordCount = firstWordsOf(nodes.map(({ partCount }) => partCount)).at(-1)!;
    const ended = sharedWords(nodes.length).fill(firstNumber);
    const parts = sharedWords(BLOCK_SLOTS * wordCount);
    return new NodeMarks(nodes, { ended, parts, cut: sharedWords(BLOCK_SLOTS) });
  }

  /** Call it before the block is submitted. The block that had its slot has ended with all its reports. */
  clear(block: number): void {
    const wordCount = this.#firstWords.at(-1)!;
    const first = (block & BLOCK_SLOT_MASK) * wordCount;
    this.words.parts.fill(0, first, first + wordCount);
    this.words.cut[block & BLOCK_SLOT_MASK] = 0;
  }

  /** Executors pass over what has not begun of a block: it ends at once, apart from what runs. */
  cut(block: number): void {
    Atomics.store(this.words.cut, block & BLOCK_SLOT_MASK, 1);
  }

  isCut(block: number): boolean {
    return Atomics.load(this.words.cut, block & BLOCK_SLOT_MASK) === 1;
  }

  /** Marks a part, and its node once all its parts are marked. True for the last one. */
  mark(block: number, node: number, part: number): boolean {
    const { ended, parts } = this.words;
    const partCount = this.#partCounts[node]!;
    if (partCount > 1) {
      const first = this.#firstWord(block, node);
      const word = first + Math.floor(part / BITS);
      Atomics.or(parts, word, 1 << (part % BITS));
      for (let left = partCount, at = first; left > 0; left -= BITS, at++)
        if (Atomics.load(parts, at) !== allOf(left)) return false;
    }
    Atomics.store(ended, node, block + 1);
    return true;
  }

  isMarked(block: number, node: number, part: number): boolean {
    if (this.#partCounts[node] === 1) return this.isEnded(block, node);
    const word = this.#firstWord(block, node) + Math.floor(part / BITS);
    return (Atomics.load(this.words.parts, word) & (1 << (part % BITS))) !== 0;
  }

  isEnded(block: number, node: number): boolean {
    return ((Atomics.load(this.words.ended, node) - block) | 0) > 0;
  }

  #firstWord(block: number, node: number): number {
    return (block & BLOCK_SLOT_MASK) * this.#firstWords.at(-1)! + this.#firstWords[node]!;
  }
}

/** The bits of this number of parts, of a word at most. */
function allOf(partCount: number): number {
  return partCount >= BITS ? -1 : ((1 << partCount) - 1) | 0;
}

function firstWordsOf(partCounts: readonly number[]): Int32Array {
  const first = new Int32Array(partCounts.length + 1);
  partCounts.forEach((count, node) => {
    first[node + 1] = first[node]! + (count > 1 ? Math.ceil(count / BITS) : 0);
  });
  return first;
}

function sharedWords(length: number): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT));
}
