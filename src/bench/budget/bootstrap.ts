import type { Xoshiro128 } from "../random.ts";

/** Measurements of one kind, run by run, each in the order in which they were taken. */
export interface Sample {
  readonly runs: readonly (readonly number[])[];
}

/** A ratio and where it lies with a probability of `LEVEL`. */
export interface RatioInterval {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

/** Of many figures one in a hundred lies outside by chance. */
const LEVEL = 0.99;

const RESAMPLES = 2000;

/** Calls that follow each other are alike: the machine's other load lasts longer than one of them. */
const BLOCK_CALLS = 10;

/** A run of so few blocks would be the same in nearly every resample. */
const BLOCKS_MIN = 10;

/**
 * Ratios of quantiles of B to those of A with percentile intervals of the moving-block bootstrap (H. R. Künsch, "The
 * jackknife and the bootstrap for general stationary observations", Annals of Statistics 17, 1989). Runs are drawn
 * first, where there are several, then blocks of each: what differs from run to run widens the intervals.
 */
export function quantileRatios(
  a: Sample,
  b: Sample,
  shares: readonly number[],
  random: Xoshiro128,
): RatioInterval[] {
  const [from, to] = [new Resampler(a), new Resampler(b)];
  const given = [from.given(shares), to.given(shares)] as const;
  const ratios = shares.map(() => new Float64Array(RESAMPLES));
  for (let index = 0; index < RESAMPLES; index++) {
    const [before, after] = [from.draw(shares, random), to.draw(shares, random)];
    for (const [at, of] of ratios.entries()) of[index] = after[at]! / before[at]!;
  }
  const tail = Math.floor((RESAMPLES * (1 - LEVEL)) / 2);
  return ratios.map((all, at) => {
    all.sort();
    const ratio = given[1][at]! / given[0][at]!;
    return { ratio, low: all[tail]!, high: all[RESAMPLES - 1 - tail]! };
  });
}

/** Draws samples again from what was measured; values are counted by their ranks, so that none is sorted twice. */
class Resampler {
  readonly #sorted: Float64Array;
  /** For each run the ranks of its values. */
  readonly #runs: readonly Int32Array[];
  readonly #counts: Int32Array;

  constructor({ runs }: Sample) {
    const values = runs.flat();
    const order = values.map((_, index) => index).sort((x, y) => values[x]! - values[y]!);
    const rankOf = new Int32Array(values.length);
    for (const [rank, index] of order.entries()) rankOf[index] = rank;
    this.#sorted = Float64Array.from(order, (index) => values[index]!);
    let end = 0;
    this.#runs = runs.map(({ length }) => {
      end += length;
      return rankOf.subarray(end - length, end);
    });
    this.#counts = new Int32Array(values.length);
  }

  /** Quantiles of what was measured. */
  given(shares: readonly number[]): number[] {
    this.#counts.fill(1);
    return this.#quantiles(shares, this.#counts.length);
  }

  /** Quantiles of a sample that is drawn again. */
  draw(shares: readonly number[], random: Xoshiro128): number[] {
    this.#counts.fill(0);
    let drawn = 0;
    for (const own of this.#runs) {
      const run = this.#runs.length === 1 ? own : this.#runs[below(this.#runs.length, random)]!;
      this.#drawBlocks(run, random);
      drawn += run.length;
    }
    return this.#quantiles(shares, drawn);
  }

  /** As many values as the run has, in blocks that begin anywhere and go round its end. */
  #drawBlocks(run: Int32Array, random: Xoshiro128): void {
    const block = Math.max(1, Math.min(BLOCK_CALLS, Math.floor(run.length / BLOCKS_MIN)));
    for (let drawn = 0; drawn < run.length; drawn += block) {
      const start = below(run.length, random);
      const end = Math.min(block, run.length - drawn);
      for (let index = 0; index < end; index++) this.#counts[run[(start + index) % run.length]!]!++;
    }
  }

  /** The least value that has so large a share at or below it, for each of the ascending shares. */
  #quantiles(shares: readonly number[], count: number): number[] {
    let rank = -1;
    let reached = 0;
    return shares.map((share) => {
      while (reached < Math.max(1, Math.ceil(share * count))) reached += this.#counts[++rank]!;
      return this.#sorted[rank]!;
    });
  }
}

const below = (count: number, random: Xoshiro128): number => Math.floor(random.uniform() * count);
