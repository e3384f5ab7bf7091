import { CenteredRow, IntegerRow, NORMAL_MIN } from "./centered_row.ts";
import { add, divide, low, multiply, RELATIVE_ERROR, roundIfCertain, squareRoot } from "./double_double.ts";
import { decompose, roundSquareRoot } from "./dyadic.ts";
import { hasInfinity } from "./infinity.ts";
import { roundQuadratic } from "./quadratic.ts";

/**
 * Distances from the mean of a row in sample standard deviations (ddof 1): each result is the exact real value rounded
 * once. Double-double arithmetic decides nearly every value, integers the others. Infinities have no distance: NaN.
 */

/**
 * `output[i] = (values[i] - mean) / std`; NaN for all where the deviation is 0, undefined (n < 2) or infinite.
 *
 * With d = n * (x - mean) and m = n * sum((x - mean)^2) the score is d * sqrt((n - 1) / (n * m)).
 */
export function exactStandardScores(values: Float64Array, output: Float64Array): void {
  const n = values.length;
  if (n < 2 || hasInfinity(values) || values.every((value) => value === values[0])) {
    output.fill(Number.NaN);
    return;
  }
  const row = new CenteredRow(values);
  const moment = row.crossMoment(row);
  const scaled = multiply(moment.high, moment.lowPart, n, 0);
  const inverse = divide(n - 1, 0, scaled, low[0] as number);
  const root = squareRoot(inverse, low[0] as number);
  const rootLow = low[0] as number;
  const relative = Math.abs(moment.error / moment.high) + 8 * RELATIVE_ERROR;
  let exact: { integers: IntegerRow; moment: bigint } | undefined;
  for (let i = 0; i < n; i++) {
    const deviation = row.deviation(i);
    const score = multiply(deviation, low[0] as number, root, rootLow);
    const error = row.deviationError(i) * root + Math.abs(score) * relative;
    const rounded = roundIfCertain(score, low[0] as number, error);
    if (Math.abs(rounded) > NORMAL_MIN) {
      output[i] = rounded;
      continue;
    }
    if (!exact) {
      const integers = new IntegerRow(values);
      exact = { integers, moment: integers.crossMoment(integers) };
    }
    const numerator = exact.integers.deviation(i);
    const magnitude = roundSquareRoot(numerator * numerator * BigInt(n - 1), BigInt(n) * exact.moment, 0);
    output[i] = numerator < 0n ? -magnitude : magnitude;
  }
}

/** `mean + factor * std` of the values; NaN where the deviation is undefined (n < 2) or infinite. */
export function exactDeviationBound(values: Float64Array, factor: number): number {
  const n = values.length;
  if (n < 2 || hasInfinity(values)) return Number.NaN;
  const row = new CenteredRow(values);
  const sum = row.sum();
  const mean = divide(sum.high, sum.lowPart, n, 0);
  const meanLow = low[0] as number;
  const moment = row.crossMoment(row);
  const variance = divide(moment.high, moment.lowPart, n * (n - 1), 0);
  const deviation = squareRoot(variance, low[0] as number);
  const distance = multiply(deviation, low[0] as number, factor, 0);
  const bound = add(mean, meanLow, distance, low[0] as number);
  const relative = Math.abs(moment.error / moment.high) + 4 * RELATIVE_ERROR;
  const error = sum.error / n + 2 * RELATIVE_ERROR * Math.abs(mean) + 2 * Math.abs(distance) * relative;
  const rounded = roundIfCertain(bound, low[0] as number, error);
  return Math.abs(rounded) > NORMAL_MIN ? rounded : integerBound(values, factor);
}

/** The same in integers: `(sum + factor * sqrt(n * m / (n - 1))) / n`. */
function integerBound(values: Float64Array, factor: number): number {
  const row = new IntegerRow(values);
  const { integer, exponent } = decompose(factor);
  const freedom = row.count - 1n;
  // Both terms times (n - 1), and times 2^shift where the factor has digits behind the point.
  const shift = BigInt(Math.max(0, -exponent));
  const root = integer << (BigInt(exponent) + shift);
  const square = root * root * row.count * row.crossMoment(row) * freedom;
  const rational = (row.sum << shift) * freedom;
  return roundQuadratic(
    rational,
    factor < 0 ? -1n : 1n,
    square,
    row.count * freedom,
    row.exponent - Number(shift),
  );
}
