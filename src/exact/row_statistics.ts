import { certifiedRow } from "./certified.ts";
import { slopeOf } from "./regression.ts";
import { hasInfinity, infiniteSum, isConstant } from "./special_values.ts";
import { exactSum } from "./sums.ts";

/** Statistics `[n]` of the values `[n]` of a row: each result is exact and rounded once. */

/** `output[i] = values[i] * factor / sum(abs(values))`; NaN where that sum is 0. */
export function exactShares(values: Float64Array, factor: number, output: Float64Array): void {
  const magnitudes = values.map(Math.abs);
  if (hasInfinity(values)) {
    // A number is no part of an infinite sum, also if its product with the factor overflows.
    const shareOf = (value: number) => (value / Number.POSITIVE_INFINITY) * factor;
    for (let i = 0; i < values.length; i++) output[i] = shareOf(values[i] as number);
    return;
  }
  if (!Number.isFinite(factor) || isZero(values)) {
    const divisor = exactSum(magnitudes);
    for (let i = 0; i < values.length; i++) output[i] = ((values[i] as number) * factor) / divisor;
    return;
  }
  certifiedRow([magnitudes], output, true, (x) => {
    const share = x.number(factor).over(x.sum());
    return (i) => share.times(values[i] as number);
  });
}

/** `output[i] = values[i] - mean(values)`. */
export function exactDeviations(values: Float64Array, output: Float64Array): void {
  if (hasInfinity(values)) {
    const mean = infiniteSum(values);
    for (let i = 0; i < values.length; i++) output[i] = (values[i] as number) - mean;
    return;
  }
  certifiedRow([values], output, true, (x) => (i) => x.deviation(i).over(x.count));
}

/** `output[i] = (values[i] - mean) / std`, ddof 1; NaN for all where std is 0, undefined (n < 2) or infinite. */
export function exactStandardScores(values: Float64Array, output: Float64Array): void {
  certifiedRow([values], output, values.length > 1 && !isConstant(values), (x) => {
    const factor = x
      .number(x.count - 1)
      .over(x.powerSum(2))
      .root();
    return (i) => x.deviation(i).times(factor);
  });
}

/** `output[i] = (values[i] - min) / (max - min) - offset`; NaN where all values are equal or one is infinite. */
export function exactRangeShares(values: Float64Array, offset: number, output: Float64Array): void {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) {
    least = Math.min(least, values[i] as number);
    most = Math.max(most, values[i] as number);
  }
  certifiedRow([values], output, least !== most, (x) => {
    const scale = x.number(1).over(x.number(most, -least));
    return (i) =>
      x
        .number(values[i] as number, -least)
        .times(scale)
        .minus(offset);
  });
}

/** `output[i] = y[i] * (x . y) / (y . y)`: the part of x along y. NaN where y is zero or a value is infinite. */
export function exactProjections(x: Float64Array, y: Float64Array, output: Float64Array): void {
  certifiedRow([x, y], output, !isZero(y), (other, along) => {
    const factor = other.dot(along).over(along.dot(along));
    return (i) => factor.times(y[i] as number);
  });
}

/** `output[i] = x[i] - y[i] * (x . y) / (y . y)`: the part of x perpendicular to y, NaN as above. */
export function exactRejections(x: Float64Array, y: Float64Array, output: Float64Array): void {
  certifiedRow([x, y], output, !isZero(y), (other, along) => {
    const factor = other.dot(along).over(along.dot(along));
    return (i) => along.number(x[i] as number).minus(factor.times(y[i] as number));
  });
}

function isZero(values: Float64Array): boolean {
  return values.every((value) => value === 0);
}

/**
 * `output[i]` = y[i] minus the value there of the least squares line of y on x, with intercept. NaN where all x are
 * equal (also for n < 2) or a value is infinite.
 */
export function exactResiduals(y: Float64Array, x: Float64Array, output: Float64Array): void {
  certifiedRow([y, x], output, hasLine(x), (y, x) => {
    const slope = slopeOf(y, x);
    return (i) =>
      y
        .deviation(i)
        .minus(slope.times(x.deviation(i)))
        .over(y.count);
  });
}

/** `output[i]` = value at `x[i]` of the least squares line of y on x, NaN as above. */
export function exactFittedValues(y: Float64Array, x: Float64Array, output: Float64Array): void {
  certifiedRow([y, x], output, hasLine(x), (y, x) => {
    const slope = slopeOf(y, x);
    const sum = y.sum();
    return (i) => sum.plus(slope.times(x.deviation(i))).over(y.count);
  });
}

function hasLine(x: Float64Array): boolean {
  return x.length > 1 && !isConstant(x);
}
