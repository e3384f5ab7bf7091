/** Random numbers that any implementation can repeat: only operations on unsigned 32-bit and 64-bit integers. */

const MASK_64 = 2n ** 64n - 1n;

/** The largest unsigned 32-bit number and one. */
const SPAN_32 = 2 ** 32;

/**
 * SplitMix64, for seeding: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
 * with the constants of variant 13 of D. Stafford's mixing function.
 *
 * @returns The next `count` numbers of 64 bits.
 */
export function splitMix64(seed: bigint, count: number): bigint[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK_64;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK_64;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK_64;
    return z ^ (z >> 31n);
  });
}

/**
 * xoshiro128**: D. Blackman, S. Vigna, "Scrambled linear pseudorandom number generators", ACM Transactions on
 * Mathematical Software 47 (2021), 4. It needs 32-bit operations only, which JavaScript does without big integers.
 */
export class Xoshiro128 {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(state: readonly [number, number, number, number]) {
    [this.#a, this.#b, this.#c, this.#d] = state;
  }

  /** Four words of state from two numbers of `splitMix64`, the low half of each first. */
  static seeded(seed: bigint): Xoshiro128 {
    const [first, second] = splitMix64(seed, 2) as [bigint, bigint];
    const halves = [first, first >> 32n, second, second >> 32n].map((word) => Number(word & 0xffffffffn));
    return new Xoshiro128(halves as [number, number, number, number]);
  }

  /** The next number of 32 bits. */
  next(): number {
    const result = Math.imul(rotateLeft(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotateLeft(this.#d, 11);
    return result;
  }

  /** (next + 0.5) / 2^32: above 0 and below 1, exact. */
  uniform(): number {
    return (this.next() + 0.5) / SPAN_32;
  }
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
