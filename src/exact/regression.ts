import { certified } from "./certified.ts";
import type { LinearWeights, Real, Series } from "./real.ts";
import { hasInfinity, isConstant } from "./special_values.ts";

/**
 * Least-squares regressions with an intercept, exact and rounded once. A window with an infinity and regressors that do
 * not determine the coefficients give NaN.
 */

/** Sums over whole positions below 2^16, at most 2^16 of them: exact. */
interface Positions {
  readonly count: number;
  readonly sum: number;
  readonly squares: number;
}

function sumPositions(positions: Float64Array): Positions {
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < positions.length; i++) {
    const position = positions[i] as number;
    sum += position;
    squares += position * position;
  }
  return { count: positions.length, sum, squares };
}

/** `count * squares - sum^2`, which is below 2^63 and at least 0: below 2^53 doubles hold it. */
function spreadOf<T extends Real<T>>(x: Series<T>, { count, sum, squares }: Positions): T {
  if (count * squares < 2 ** 53) return x.number(count * squares - sum * sum);
  return x.number(count).times(squares).minus(x.number(sum).times(sum));
}

/** With count and sum of the positions p, `sum((count * p - sum) * y)` is the slope times the spread. */
function slopeWeights({ count, sum }: Positions): LinearWeights {
  return { slope: count, offset: -sum };
}

/** Weights of the values in the regression line's value at `position`, times the spread. */
function lineWeights({ count, sum, squares }: Positions, position: number): LinearWeights {
  return { slope: position * count - sum, offset: squares - position * sum };
}

/** Slope of the regression of the values `[n]` on their positions; NaN for n < 2. */
export function exactSlope(values: Float64Array, positions: Float64Array): number {
  if (values.length < 2) return Number.NaN;
  if (isConstant(values)) return 0;
  const sums = sumPositions(positions);
  return certified([values], (y) => y.weightedSum(slopeWeights(sums), positions).over(spreadOf(y, sums)));
}

/** Value at position 0 of the regression of the values `[n]` on their positions; NaN for n < 2. */
export function exactIntercept(values: Float64Array, positions: Float64Array): number {
  if (values.length < 2) return Number.NaN;
  if (isConstant(values)) return (values[0] as number) + 0;
  const sums = sumPositions(positions);
  return certified([values], (y) => y.weightedSum(lineWeights(sums, 0), positions).over(spreadOf(y, sums)));
}

/** The last of the values `[n]` minus the value there of their regression on positions; NaN for n < 2. */
export function exactLastLineResidual(values: Float64Array, positions: Float64Array): number {
  const last = values.length - 1;
  if (last < 1 || hasInfinity(values)) return Number.NaN;
  if (last === 1 || isConstant(values)) return 0;
  const sums = sumPositions(positions);
  const weights = lineWeights(sums, positions[last] as number);
  return certified([values], (y) => {
    const spread = spreadOf(y, sums);
    return spread
      .times(y.number(values[last] as number))
      .minus(y.weightedSum(weights, positions))
      .over(spread);
  });
}

/**
 * Share of the variance of the values `[n]` that their regression on positions explains, in [0, 1]; NaN for n < 2 and
 * for equal values. With slope = a / spread it is n * a^2 / (spread * powerSum(2)).
 */
export function exactLineRSquare(values: Float64Array, positions: Float64Array): number {
  if (values.length < 2 || isConstant(values)) return Number.NaN;
  const sums = sumPositions(positions);
  return certified([values], (y) => {
    const scaledSlope = y.weightedSum(slopeWeights(sums), positions);
    const explained = scaledSlope.times(scaledSlope).times(y.count);
    return explained.over(spreadOf(y, sums).times(y.powerSum(2)));
  });
}

/** Slope of the regression of y on x. */
export function slopeOf<T extends Real<T>>(y: Series<T>, x: Series<T>): T {
  return x.productSum(y).over(x.powerSum(2));
}

/** Slope of the regression of `y` on `x` `[n]`; NaN for n < 2 and for a constant x. */
export function exactBeta(y: Float64Array, x: Float64Array): number {
  if (x.length < 2 || isConstant(x) || hasInfinity(x)) return Number.NaN;
  if (isConstant(y)) return 0;
  return certified([y, x], slopeOf);
}

/** Value at x = 0 of the regression of `y` on `x` `[n]`; NaN for n < 2 and for a constant x. */
export function exactAlpha(y: Float64Array, x: Float64Array): number {
  if (x.length < 2 || isConstant(x) || hasInfinity(x)) return Number.NaN;
  if (isConstant(y)) return (y[0] as number) + 0;
  return certified([y, x], (y, x) => y.sum().minus(slopeOf(y, x).times(x.sum())).over(y.count));
}

/** The last of `y` `[n]` minus its value by the regression of `y` on `x`; NaN for n < 2 and for a constant x. */
export function exactLastResidual(y: Float64Array, x: Float64Array): number {
  const last = x.length - 1;
  if (last < 1 || isConstant(x) || hasInfinity(x) || hasInfinity(y)) return Number.NaN;
  if (last === 1 || isConstant(y)) return 0;
  return certified([y, x], (y, x) => {
    const explained = slopeOf(y, x).times(x.deviation(last));
    return y.deviation(last).minus(explained).over(y.count);
  });
}

/**
 * The last of `y` `[n]` minus its value by the regression of `y` on three others; NaN if they are collinear. With the
 * products G of the regressors with each other and g of them with y, and `last` the last deviations, it is
 * `last[3] - g' G^-1 last[0..2]`: one quotient by Cramer's rule with the adjugate of G.
 */
export function exactLastResidualOfThree(y: Float64Array, regressors: readonly Float64Array[]): number {
  const count = y.length;
  if (count < 4 || regressors.some((x) => isConstant(x) || hasInfinity(x)) || hasInfinity(y))
    return Number.NaN;
  return certified([...regressors, y], (...columns) => {
    const table = productTable(columns);
    const last = columns.map((column) => column.deviation(count - 1));
    const at = (i: number, j: number) => table[i % 3]![j % 3]!;
    const minor = (i: number, j: number) =>
      at(i + 1, j + 1)
        .times(at(i + 2, j + 2))
        .minus(at(i + 1, j + 2).times(at(i + 2, j + 1)));
    const adjugate = [0, 1, 2].map((i) => [0, 1, 2].map((j) => minor(i, j)));
    const determinant = dotOfThree(table[0]!, adjugate[0]!);
    const coefficients = adjugate.map((row) => dotOfThree(row, table[3]!));
    const residual = determinant.times(last[3]!).minus(dotOfThree(coefficients, last));
    return residual.over(determinant.times(count));
  });
}

/** `table[i][j] = columns[i].productSum(columns[j])`, each pair computed once. */
function productTable<T>(columns: readonly Series<T>[]): T[][] {
  const table: T[][] = columns.map(() => []);
  columns.forEach((a, i) => {
    columns.slice(0, i + 1).forEach((b, j) => {
      const product = a.productSum(b);
      table[i]![j] = product;
      table[j]![i] = product;
    });
  });
  return table;
}

/** The first three terms of a dot product. */
function dotOfThree<T extends Real<T>>(a: readonly T[], b: readonly T[]): T {
  return a[0]!.times(b[0]!).plus(a[1]!.times(b[1]!)).plus(a[2]!.times(b[2]!));
}
