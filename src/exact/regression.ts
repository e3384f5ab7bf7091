import { type Bounded, certified, exactly, minus, over, plus, sumOf, times } from "./bounded.ts";
import { Deviations, deviationIntegers, isConstant } from "./deviations.ts";
import { add, low, twoProduct } from "./double_double.ts";
import { alignExponents, dotIntegers, roundRatio, sumOfIntegers } from "./dyadic.ts";
import { hasInfinity } from "./infinity.ts";
import { type LinearWeights, linearlyWeightedIntegers, linearlyWeightedSum } from "./weighted.ts";

/**
 * Least-squares regressions with an intercept: each result is the exact real value rounded once to the nearest double.
 * A window with an infinity and regressors that do not determine the coefficients give NaN.
 */

/** Sums over whole positions below 2^16, at most 2^16 of them: exact, and products of two sums stay below 2^63. */
interface Positions {
  readonly count: number;
  readonly sum: number;
  readonly squares: number;
  /** `count * squares - sum^2`, exact in double-double. */
  readonly spread: Bounded;
}

function sumPositions(positions: Float64Array): Positions {
  const count = positions.length;
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < count; i++) {
    const position = positions[i] as number;
    sum += position;
    squares += position * position;
  }
  const squared = twoProduct(sum, sum);
  const squaredLow = low[0] as number;
  const scaled = twoProduct(count, squares);
  const high = add(scaled, low[0] as number, -squared, -squaredLow);
  return { count, sum, squares, spread: { high, lowPart: low[0] as number, error: 0 } };
}

function spreadInteger({ spread }: Positions): bigint {
  return BigInt(spread.high) + BigInt(spread.lowPart);
}

/** With count and sum of the positions p, `sum((count * p - sum) * y)` is the slope times the spread. */
function slopeWeights({ count, sum }: Positions): LinearWeights {
  return { slope: count, offset: -sum };
}

/** Weights of the values in the regression line's value at `position`, times the spread. */
function lineWeights({ count, sum, squares }: Positions, position: number): LinearWeights {
  return { slope: position * count - sum, offset: squares - position * sum };
}

/** A weighted sum of the values over the spread of their positions. */
function overSpread(
  values: Float64Array,
  positions: Float64Array,
  sums: Positions,
  weights: LinearWeights,
): number {
  const rounded = certified(over(linearlyWeightedSum(values, positions, weights), sums.spread));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return Number.NaN;
  const { integers, exponent } = alignExponents(values);
  return roundRatio(linearlyWeightedIntegers(integers, positions, weights), spreadInteger(sums), exponent);
}

/** Slope of the regression of the values `[n]` on their positions; NaN for n < 2. */
export function exactSlope(values: Float64Array, positions: Float64Array): number {
  if (values.length < 2) return Number.NaN;
  if (isConstant(values)) return 0;
  const sums = sumPositions(positions);
  return overSpread(values, positions, sums, slopeWeights(sums));
}

/** Value at position 0 of the regression of the values `[n]` on their positions; NaN for n < 2. */
export function exactIntercept(values: Float64Array, positions: Float64Array): number {
  if (values.length < 2) return Number.NaN;
  if (isConstant(values)) return (values[0] as number) + 0;
  const sums = sumPositions(positions);
  return overSpread(values, positions, sums, lineWeights(sums, 0));
}

/** The last of the values `[n]` minus the value there of their regression on positions; NaN for n < 2. */
export function exactLastLineResidual(values: Float64Array, positions: Float64Array): number {
  const count = values.length;
  if (count < 2 || hasInfinity(values)) return Number.NaN;
  if (count === 2 || isConstant(values)) return 0;
  const sums = sumPositions(positions);
  const weights = lineWeights(sums, positions[count - 1] as number);
  const last = times(sums.spread, exactly(values[count - 1] as number));
  const residual = minus(last, linearlyWeightedSum(values, positions, weights));
  const rounded = certified(over(residual, sums.spread));
  if (!Number.isNaN(rounded)) return rounded;
  const { integers, exponent } = alignExponents(values);
  const spread = spreadInteger(sums);
  const line = linearlyWeightedIntegers(integers, positions, weights);
  return roundRatio(spread * (integers[count - 1] as bigint) - line, spread, exponent);
}

const ofX = new Deviations();
const ofY = new Deviations();

/**
 * Share of the variance of the values `[n]` that their regression on positions explains, in [0, 1]; NaN for n < 2 and
 * for equal values. With slope = a / spread it is n * a^2 / (spread * sum((n * deviation)^2)).
 */
export function exactLineRSquare(values: Float64Array, positions: Float64Array): number {
  const count = values.length;
  if (count < 2 || isConstant(values)) return Number.NaN;
  const sums = sumPositions(positions);
  const scaledSlope = linearlyWeightedSum(values, positions, slopeWeights(sums));
  const explained = times(times(scaledSlope, scaledSlope), exactly(count));
  const rounded = certified(over(explained, times(sums.spread, ofY.load(values).powerSum(2))));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(values)) return Number.NaN;
  const { integers } = alignExponents(values);
  const scaledInteger = linearlyWeightedIntegers(integers, positions, slopeWeights(sums));
  const exact = deviationIntegers(integers);
  const total = spreadInteger(sums) * dotIntegers(exact, exact);
  return roundRatio(BigInt(count) * scaledInteger ** 2n, total, 0);
}

/** Slope of the regression of `y` on `x` `[n]`; NaN for n < 2 and for a constant x. */
export function exactBeta(y: Float64Array, x: Float64Array): number {
  if (x.length < 2 || isConstant(x) || hasInfinity(x)) return Number.NaN;
  if (isConstant(y)) return 0;
  const rounded = certified(over(ofX.load(x).productSum(ofY.load(y)), ofX.powerSum(2)));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(y)) return Number.NaN;
  const { products, squares, exponent } = exactProducts(y, x);
  return roundRatio(products, squares, exponent);
}

/** Value at x = 0 of the regression of `y` on `x` `[n]`; NaN for n < 2 and for a constant x. */
export function exactAlpha(y: Float64Array, x: Float64Array): number {
  const count = x.length;
  if (count < 2 || isConstant(x) || hasInfinity(x)) return Number.NaN;
  if (isConstant(y)) return (y[0] as number) + 0;
  const beta = over(ofX.load(x).productSum(ofY.load(y)), ofX.powerSum(2));
  const rounded = certified(over(minus(sumOf(y), times(beta, sumOf(x))), exactly(count)));
  if (!Number.isNaN(rounded)) return rounded;
  if (hasInfinity(y)) return Number.NaN;
  const { products, squares } = exactProducts(y, x);
  const alignedY = alignExponents(y);
  const sumY = sumOfIntegers(alignedY.integers);
  const sumX = sumOfIntegers(alignExponents(x).integers);
  return roundRatio(sumY * squares - sumX * products, BigInt(count) * squares, alignedY.exponent);
}

/** The last of `y` `[n]` minus its value by the regression of `y` on `x`; NaN for n < 2 and for a constant x. */
export function exactLastResidual(y: Float64Array, x: Float64Array): number {
  const count = x.length;
  if (count < 2 || isConstant(x) || hasInfinity(x) || hasInfinity(y)) return Number.NaN;
  if (count === 2 || isConstant(y)) return 0;
  const beta = over(ofX.load(x).productSum(ofY.load(y)), ofX.powerSum(2));
  const rounded = certified(over(minus(ofY.last(), times(beta, ofX.last())), exactly(count)));
  if (!Number.isNaN(rounded)) return rounded;
  const { products, squares } = exactProducts(y, x);
  const alignedY = alignExponents(y);
  const lastY = deviationIntegers(alignedY.integers).at(-1) as bigint;
  const lastX = deviationIntegers(alignExponents(x).integers).at(-1) as bigint;
  return roundRatio(lastY * squares - lastX * products, BigInt(count) * squares, alignedY.exponent);
}

/** Sums of products of deviations, n^2 times, in integers; products / squares * 2^exponent is the slope. */
function exactProducts(y: Float64Array, x: Float64Array) {
  const alignedX = alignExponents(x);
  const alignedY = alignExponents(y);
  const devX = deviationIntegers(alignedX.integers);
  const devY = deviationIntegers(alignedY.integers);
  const exponent = alignedY.exponent - alignedX.exponent;
  return { products: dotIntegers(devX, devY), squares: dotIntegers(devX, devX), exponent };
}

/** Numbers of one kind, for formulas that hold for integers as well as for bounded numbers. */
interface Operations<T> {
  readonly plus: (a: T, b: T) => T;
  readonly minus: (a: T, b: T) => T;
  readonly times: (a: T, b: T) => T;
}

const BOUNDED: Operations<Bounded> = { plus, minus, times };
const INTEGERS: Operations<bigint> = {
  plus: (a, b) => a + b,
  minus: (a, b) => a - b,
  times: (a, b) => a * b,
};

const ofRegressors = [new Deviations(), new Deviations(), new Deviations()] as const;

/** The last of `y` `[n]` minus its value by the regression of `y` on three others; NaN if they are collinear. */
export function exactLastResidualOfThree(y: Float64Array, regressors: readonly Float64Array[]): number {
  const count = y.length;
  if (count < 4 || regressors.some((x) => isConstant(x) || hasInfinity(x)) || hasInfinity(y))
    return Number.NaN;
  const loaded = [...ofRegressors.map((one, i) => one.load(regressors[i] as Float64Array)), ofY.load(y)];
  const fast = residualOfThree(
    BOUNDED,
    productTable(loaded, (a, b) => a.productSum(b)),
    loaded.map((one) => one.last()),
  );
  const rounded = certified(over(fast.numerator, times(fast.denominator, exactly(count))));
  if (!Number.isNaN(rounded)) return rounded;
  const { exponent } = alignExponents(y);
  const exact = [...regressors, y].map((column) => deviationIntegers(alignExponents(column).integers));
  const last = exact.map((column) => column.at(-1) as bigint);
  const { numerator, denominator } = residualOfThree(INTEGERS, productTable(exact, dotIntegers), last);
  if (denominator === 0n) return Number.NaN;
  return roundRatio(numerator, BigInt(count) * denominator, exponent);
}

/** `table[i][j] = product(columns[i], columns[j])`, each pair computed once. */
function productTable<C, T>(columns: readonly C[], product: (a: C, b: C) => T): T[][] {
  const table: T[][] = columns.map(() => []);
  columns.forEach((a, i) => {
    columns.slice(0, i + 1).forEach((b, j) => {
      (table[i] as T[])[j] = product(a, b);
      (table[j] as T[])[i] = (table[i] as T[])[j] as T;
    });
  });
  return table;
}

/**
 * The residual `last[3] - g' G^-1 last[0..2]`, G being the products of the three regressors with each other and g with
 * y, as a quotient: Cramer's rule with the adjugate of G.
 */
function residualOfThree<T>(
  { plus, minus, times }: Operations<T>,
  table: readonly (readonly T[])[],
  last: readonly T[],
): { numerator: T; denominator: T } {
  const at = (i: number, j: number) => (table[i % 3] as readonly T[])[j % 3] as T;
  const minor = (i: number, j: number) =>
    minus(times(at(i + 1, j + 1), at(i + 2, j + 2)), times(at(i + 1, j + 2), at(i + 2, j + 1)));
  const dot = (a: readonly T[], b: readonly T[]) =>
    plus(plus(times(a[0] as T, b[0] as T), times(a[1] as T, b[1] as T)), times(a[2] as T, b[2] as T));
  const adjugate = [0, 1, 2].map((i) => [0, 1, 2].map((j) => minor(i, j)));
  const denominator = dot([at(0, 0), at(0, 1), at(0, 2)], adjugate[0] as T[]);
  const coefficients = adjugate.map((row) => dot(row, table[3] as readonly T[]));
  return { numerator: minus(times(denominator, last[3] as T), dot(coefficients, last)), denominator };
}
