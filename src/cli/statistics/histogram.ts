const BARS = "▁▂▃▄▅▆▇█";

/** Equal intervals from `low` to `high`; what is beyond counts in the outer ones. */
export interface Histogram {
  readonly low: number;
  readonly high: number;
  readonly counts: readonly number[];
}

/**
 * The counts of equal intervals from the 1st to the 99th percentile of ascending values; what is beyond counts in the outer
 * ones. Values of which 98 % are equal are divided from the least to the greatest.
 */
export function histogramOf(sorted: Float64Array, intervals: number): Histogram {
  const counts = new Array<number>(intervals).fill(0);
  const cut = Math.floor(sorted.length / 100);
  const inner = [sorted[cut]!, sorted.at(-1 - cut)!] as const;
  const [low, high] = inner[0] < inner[1] ? inner : [sorted[0]!, sorted.at(-1)!];
  for (const value of sorted) {
    // Halved, because the difference may be beyond doubles.
    const position = (intervals * (value / 2 - low / 2)) / (high / 2 - low / 2);
    counts[
      Number.isNaN(position) ? intervals >> 1 : Math.min(intervals - 1, Math.max(0, Math.floor(position)))
    ]!++;
  }
  return { low, high, counts };
}

/** One character per count, the highest for the largest; a space for none. */
export function histogramText(counts: readonly number[]): string {
  const largest = Math.max(...counts);
  return counts
    .map((count) => (count === 0 ? " " : BARS[Math.ceil((BARS.length * count) / largest) - 1]))
    .join("");
}
