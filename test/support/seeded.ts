import { Xoshiro128 } from "../../src/bench/random.ts";

/** The seed of what a test draws: `SEED`, to repeat what failed, and otherwise another each time. */
export const testSeed = (): number => Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** Random numbers of a test. */
export class Seeded {
  readonly seed = testSeed();
  readonly #numbers = Xoshiro128.seeded(BigInt(this.seed));

  /** At least 0 and below 1. */
  readonly uniform = (): number => this.#numbers.uniform();

  /** A whole number from 0 up to `count` - 1. */
  readonly below = (count: number): number => Math.floor(count * this.uniform());
}
