import { Xoshiro128 } from "../../src/bench/random.ts";

/** Random numbers of a test, from a seed that is new each time: SEED repeats one that failed. */
export class Seeded {
  readonly seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  readonly #numbers = Xoshiro128.seeded(BigInt(this.seed));

  /** At least 0 and below 1. */
  readonly uniform = (): number => this.#numbers.uniform();

  /** A whole number from 0 up to `count` - 1. */
  readonly below = (count: number): number => Math.floor(count * this.uniform());
}
