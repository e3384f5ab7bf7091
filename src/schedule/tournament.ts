/**
 * The index with the least key, in O(log n) per change: a tree in which every inner node holds the winner of the two
 * below. With 200 executors, scanning their queues took longer than all the rest of handing out a part.
 */
export class Tournament {
  /** Node 1 is the root; node `n` has children `2n` and `2n + 1`; node `size + place` is the leaf of a place. */
  readonly #size: number;
  readonly #winners: Int32Array;
  readonly #keys: Float64Array;

  /** All keys are infinite at first. */
  constructor(placeCount: number) {
    // A power of two, so that of equal keys the first wins; with a single leaf the root would be that leaf.
    this.#size = 2 ** Math.max(1, Math.ceil(Math.log2(placeCount)));
    this.#keys = new Float64Array(this.#size).fill(Number.POSITIVE_INFINITY);
    this.#winners = new Int32Array(2 * this.#size);
    for (let place = 0; place < this.#size; place++) this.#winners[this.#size + place] = place;
    for (let node = this.#size - 1; node > 0; node--) this.#play(node);
  }

  /** The index with the least finite key; null if there is none. */
  get first(): number | null {
    const place = this.#winners[1]!;
    return this.#keys[place] === Number.POSITIVE_INFINITY ? null : place;
  }

  set(place: number, key: number): void {
    if (this.#keys[place] === key) return;
    this.#keys[place] = key;
    for (let node = (this.#size + place) >> 1; node > 0; node >>= 1) this.#play(node);
  }

  #play(node: number): void {
    const a = this.#winners[2 * node]!;
    const b = this.#winners[2 * node + 1]!;
    this.#winners[node] = this.#keys[b]! < this.#keys[a]! ? b : a;
  }
}
