import { readFileSync } from "node:fs";
import { Xoshiro128 } from "../../src/bench/random.ts";

/**
 * The seed of what a test draws: `SEED`, and otherwise the one of `test/seed.txt`, so that no change fails for a case that
 * nobody saw. `npm run test:renew` draws another one, `npm run test:new-seed` tries one without keeping it.
 */
export const testSeed = (): number =>
  Number(process.env["SEED"] ?? readFileSync(`${import.meta.dirname}/../seed.txt`, "utf8"));

/** Random numbers of a test. */
export class Seeded {
  readonly seed = testSeed();
  readonly #numbers = Xoshiro128.seeded(BigInt(this.seed));

  /** At least 0 and below 1. */
  readonly uniform = (): number => this.#numbers.uniform();

  /** A whole number from 0 up to `count` - 1. */
  readonly below = (count: number): number => Math.floor(count * this.uniform());
}
