/** Values looked at to find ranges of about as many lanes each: 256 miss by some 3 % of a row. */
const SAMPLE_LANES = 256;

/** Ranges of a row's values that hold about as many lanes each. All parts find the same ones. */
export class ValueRanges {
  readonly #values: Float64Array;
  readonly #laneCount: number;
  readonly #shareCount: number;
  readonly #sample: Float64Array;
  /** By share, its least value; then null. */
  readonly #bounds: Float64Array;

  constructor(values: Float64Array, laneCount: number, shareCount: number) {
    this.#values = values;
    this.#laneCount = laneCount;
    this.#shareCount = shareCount;
    this.#sample = new Float64Array(Math.min(laneCount, SAMPLE_LANES));
    this.#bounds = new Float64Array(shareCount + 1).fill(Number.NaN);
  }

  /** Finds the ranges of the row that starts there. */
  find(start: number): void {
    const sample = this.#sample;
    for (let i = 0; i < sample.length; i++)
      sample[i] = this.#values[start + Math.floor((i * this.#laneCount) / sample.length)]!;
    // Nulls are last.
    sample.sort();
    const count = sample.findLastIndex((value) => !Number.isNaN(value)) + 1;
    this.#bounds[0] = Number.NEGATIVE_INFINITY;
    for (let share = 1; share < this.#shareCount; share++)
      this.#bounds[share] =
        count === 0 ? Number.POSITIVE_INFINITY : sample[Math.floor((share * count) / this.#shareCount)]!;
  }

  of(share: number): readonly [low: number, high: number] {
    return [this.#bounds[share]!, this.#bounds[share + 1]!];
  }
}
