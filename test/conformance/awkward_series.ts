/**
 * Series on which implementations of statistics are known to fail: by name, with what each is after. A series has any
 * length; NaN stands for null. They are pseudo-random but the same every time.
 */
export type Series = (index: number) => number;

/** A number in [0, 1) that depends on its arguments alone (the finaliser of MurmurHash3). */
export function hashed(seed: number, index: number): number {
  let bits = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

const { NaN: none, POSITIVE_INFINITY: inf, MAX_VALUE: largest, MIN_VALUE: smallest } = Number;

const pick = (values: readonly number[], seed: number, index: number) =>
  values[Math.floor(hashed(seed, index) * values.length)]!;

/** Series that hold nulls or infinities only where their names say so. `seed` tells fields apart. */
export function awkwardSeries(seed: number): Readonly<Record<string, Series>> {
  const noise = (index: number) => Math.round((hashed(seed, index) - 0.5) * 2e6) / 1e5;
  const nearOne = (index: number) => 1e9 + (hashed(seed, index) - 0.5) * 3.46;
  return {
    noise,
    prices: (index) => Math.round(1e4 * Math.exp(noise(index) / 50)) / 100,
    ties: (index) => pick([1, 2, 3], seed, index),
    constant: () => 0.1,
    allNull: () => none,
    nullsInTheMiddle: (index) => ([9, 10, 15].includes(index) ? none : noise(index)),
    lateStart: (index) => (index < 4 || index === 21 ? none : noise(index)),
    everyOtherNull: (index) => (index % 2 === 0 ? none : noise(index)),
    infinities: (index) => ({ 6: inf, 14: -inf, 18: inf, 19: -inf, 20: inf })[index] ?? noise(index),
    zerosFirst: (index) => (index < 9 ? pick([0, -0], seed, index) : index === 17 ? 1e12 : noise(index)),
    infinityFirst: (index) => ({ 0: inf, 1: 0, 2: none, 3: 0, 7: -inf })[index] ?? noise(index),
    spike: (index) => (index === 8 ? 1e15 : noise(index)),
    meanFarFromSpread: nearOne,
    denormals: (index) => Math.floor(hashed(seed, index) * 9 - 4) * smallest,
    huge: (index) => pick([largest, -largest, 1e308, -1e300, 3e307], seed, index),
    tiny: (index) => pick([1e-300, -2e-308, 3e-162, -1e-160, 7e-305], seed, index),
    zeros: (index) => pick([0, -0, 0, -0, 1, -1], seed, index),
    cancelling: (index) => pick([1e16, -1e16, 1, 0.5, 1e-9], seed, index),
    ascending: (index) => index + 1,
    alternating: (index) => (index % 2 === 0 ? 1 : -1),
    roundedTies: (index) => 0.1 * Math.floor(hashed(seed, index) * 3) + 0.2,
  };
}

/** Numbers that meet in all pairs. */
export const AWKWARD_NUMBERS: readonly number[] = [
  0,
  -0,
  1,
  -1,
  2,
  0.5,
  3,
  0.1,
  -0.3,
  1e15,
  -1e15,
  1e9,
  largest,
  -largest,
  smallest,
  -smallest,
  1e-300,
  -1e300,
  inf,
  -inf,
  none,
];

/** What a history before the first row that counts may hold: none of it may leave a trace. */
export function garbage(seed: number, index: number): number {
  return pick([1e15, inf, -inf, none, -0, largest, -1e15, smallest, 1 / 3], seed + 77, index);
}
