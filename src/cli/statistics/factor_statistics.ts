/** What the values of a factor are like, gathered while blocks pass. */
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import { histogramOf } from "./histogram.ts";
import { ValueSample } from "./value_sample.ts";

/** Of the finite values. */
export interface Statistics {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  /** Of the sample, with n - 1; NaN for one value. */
  readonly sd: number;
  /** Of all values; of a random sample of 512 to 1,024 where there are more than 1,024. */
  readonly median: number;
  /** The counts of equal intervals of the sample, from its 1st to its 99th percentile. */
  readonly histogram: readonly number[];
  /** In ascending order. */
  readonly sample: Float64Array;
}

/**
 * Values that are added up together. The results depend on the order of the values alone, so it is not the block, which is
 * larger where there is more memory.
 */
const CHUNK_VALUES = 1024;
/** Of the histogram on a line. */
const INTERVALS = 8;

/** The statistics of each factor. */
export class FactorStatistics {
  readonly #values: ReadonlyMap<string, FiniteValues>;
  /** Rows of the result so far. */
  rowCount = 0;

  constructor(factors: readonly string[]) {
    this.#values = new Map(factors.map((name) => [name, new FiniteValues()]));
  }

  add({ present, columns }: FactorBlock): void {
    const cells = presentCells(present);
    this.rowCount += cells.length;
    for (const [name, values] of this.#values) {
      const source = columns.get(name);
      if (source) values.add(source, cells);
    }
  }

  /** By name; null for a factor without a finite value. */
  results(): ReadonlyMap<string, Statistics | null> {
    return new Map([...this.#values].map(([name, values]) => [name, values.statistics()]));
  }
}

function presentCells(present: Uint8Array): Int32Array {
  const cells = new Int32Array(present.length);
  let count = 0;
  for (let cell = 0; cell < present.length; cell++) {
    cells[count] = cell;
    count += present[cell]!;
  }
  return cells.subarray(0, count);
}

/** The finite values of one factor. */
class FiniteValues {
  readonly #sample = new ValueSample();
  readonly #chunk = new Float64Array(CHUNK_VALUES);
  #filled = 0;
  #count = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  #mean = 0;
  /** The sum of squared deviations from the mean. */
  #squares = 0;

  add(source: Float64Array, cells: Int32Array): void {
    const chunk = this.#chunk;
    let filled = this.#filled;
    for (let index = 0; index < cells.length; index++) {
      const value = source[cells[index]!]!;
      if (value - value !== 0) continue;
      chunk[filled++] = value;
      if (filled < CHUNK_VALUES) continue;
      this.#merge(chunk);
      filled = 0;
    }
    this.#filled = filled;
  }

  statistics(): Statistics | null {
    this.#merge(this.#chunk.subarray(0, this.#filled));
    this.#filled = 0;
    if (this.#count === 0) return null;
    const sample = this.#sample.sorted();
    return {
      min: this.#min,
      max: this.#max,
      mean: this.#mean,
      sd: Math.sqrt(this.#squares / (this.#count - 1)),
      median: medianOf(sample),
      histogram: histogramOf(sample, INTERVALS).counts,
      sample,
    };
  }

  /** Adds a chunk by its own mean and squares: differences of large sums would lose digits. */
  #merge(chunk: Float64Array): void {
    if (chunk.length === 0) return;
    this.#sample.add(chunk);
    let sum = 0;
    let min = this.#min;
    let max = this.#max;
    for (let index = 0; index < chunk.length; index++) {
      const value = chunk[index]!;
      sum += value;
      if (value < min) min = value;
      if (value > max) max = value;
    }
    this.#min = min;
    this.#max = max;
    const mean = sum / chunk.length;
    let squares = 0;
    for (let index = 0; index < chunk.length; index++) squares += (chunk[index]! - mean) ** 2;
    const before = this.#count;
    this.#count += chunk.length;
    const difference = mean - this.#mean;
    this.#mean += (difference * chunk.length) / this.#count;
    this.#squares += squares + difference ** 2 * ((before * chunk.length) / this.#count);
  }
}

/** Of ascending values. */
function medianOf(sorted: Float64Array): number {
  const [below, above] = [sorted[(sorted.length - 1) >> 1]!, sorted[sorted.length >> 1]!];
  // Halved first, because the sum may be beyond doubles.
  return below === above ? below : below / 2 + above / 2;
}
