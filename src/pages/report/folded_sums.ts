/**
 * Sums along an axis whose end is not known beforehand, in bounded memory: bins of one width, which doubles whenever there
 * would be more than `binsMax` of them.
 */
export class FoldedSums {
  readonly #binsMax: number;
  #width: number;
  #binCount = 0;
  readonly #series = new Map<string, Float64Array>();

  /** @param width of the first bins */
  constructor(binsMax: number, width: number) {
    this.#binsMax = binsMax;
    this.#width = width;
  }

  get width(): number {
    return this.#width;
  }

  get binCount(): number {
    return this.#binCount;
  }

  /** Spreads a value evenly over `[start, end)`, where `0 <= start < end`. */
  add(name: string, start: number, end: number, value: number): void {
    while (end > this.#binsMax * this.#width) this.#fold();
    const bins = this.#binsOf(name);
    const width = this.#width;
    const last = Math.ceil(end / width);
    this.#binCount = Math.max(this.#binCount, last);
    for (let bin = Math.floor(start / width); bin < last; bin++) {
      const overlap = Math.min(end, (bin + 1) * width) - Math.max(start, bin * width);
      bins[bin]! += (value * overlap) / (end - start);
    }
  }

  /** The sums of all bins; zeros for a name that nothing was added to. */
  sums(name: string): Float64Array {
    return (this.#series.get(name) ?? new Float64Array(this.#binsMax)).slice(0, this.#binCount);
  }

  #binsOf(name: string): Float64Array {
    let bins = this.#series.get(name);
    if (!bins) {
      bins = new Float64Array(this.#binsMax);
      this.#series.set(name, bins);
    }
    return bins;
  }

  #fold(): void {
    this.#width *= 2;
    this.#binCount = Math.ceil(this.#binCount / 2);
    for (const bins of this.#series.values()) {
      for (let bin = 0; bin < this.#binsMax; bin++)
        bins[bin] = (bins[2 * bin] ?? 0) + (bins[2 * bin + 1] ?? 0);
    }
  }
}
