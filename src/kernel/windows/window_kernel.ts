import type { Mask, Series, Value, WindowBuilder } from "../../operator/lowering.ts";
import {
  isCertain,
  PAIR_ERROR,
  type Pair,
  quickTwoSum,
  roundedQuotient,
  times,
  timesNumber,
  twoSum,
} from "../emit/double_double.ts";
import { type ColumnSeries, LaneKernel } from "../emit/lane_kernel.ts";
import { isBounded, isUnchanged } from "./every_row.ts";
import { type Extreme, extremeOf, rowOfExtreme } from "./extremes.ts";
import { runLengthOf } from "./facts.ts";
import {
  fullPositions,
  LINE_ROWS_MAX,
  type Positions,
  positionsOf,
  residualOf,
  rSquareOf,
  slopeOf,
} from "./line.ts";
import { type LinearSums, linearSums } from "./linear.ts";
import {
  type BoundedPair,
  correlation,
  covariance,
  type Moments,
  moments,
  standardDeviation,
  variance,
} from "./quadratic.ts";
import { countBelow } from "./rank_of_today.ts";
import { ORDER_ROWS_MAX, sortedWindow } from "./sorted_window.ts";

/** What is known of a statistic of the line through a window before it is computed. */
interface LineRules {
  /** The value of windows of equal values; null if they have none. */
  readonly ofConstants: number | null;
  /** Where the value is needed; default: everywhere. */
  readonly isAsked?: Mask;
  /** True if windows of two values have the value of constants: a line goes through any two points. */
  readonly areTwoConstant?: boolean;
}

/** Emits rolling operators: every method is one statistic over the last rows of its series. */
export class WindowKernel extends LaneKernel implements WindowBuilder {
  lag(x: Series, rows: number): Value {
    return rows === 0 ? x.now : this.load(columnOf(x), rows);
  }

  sum(x: Series, rows: number, minPeriods: number | null): Value {
    const sums = linearSums(this, x as ColumnSeries, rows, false);
    return this.#roundLinear(x, rows, minPeriods, sums, sums.sum, this.number(1), rows);
  }

  mean(x: Series, rows: number, minPeriods: number | null): Value {
    const sums = linearSums(this, x as ColumnSeries, rows, false);
    const count = minPeriods === null ? this.number(rows) : this.#count(x, rows);
    return this.#roundLinear(x, rows, minPeriods, sums, sums.sum, count, rows);
  }

  linearlyWeightedMean(x: Series, rows: number): Value {
    const sums = linearSums(this, x as ColumnSeries, rows, true);
    const weight = (rows * (rows + 1)) / 2;
    return this.#roundLinear(x, rows, null, sums, sums.ramp!, this.number(weight), weight);
  }

  countNonZero(x: Series, rows: number, minPeriods: number | null): Value {
    const isNonZero = this.keepOrZero(this.holds(x.now), this.number(1));
    const old = this.keepOrZero(this.holds(this.load(columnOf(x), rows)), this.number(1));
    const vector = this.state.addWindow([0]);
    this.noteSite({ kind: "count", column: columnOf(x), windowRows: rows, vector, counts: "holds" });
    const count = this.add(this.loadWindow(vector), this.sub(isNonZero, old));
    this.storeWindow(vector, count);
    return this.keep(this.#hasEnough(x, rows, minPeriods), count);
  }

  variance(x: Series, rows: number, minPeriods: number | null): Value {
    return this.#dispersion([x], rows, minPeriods, (of) => variance(this, of), "zero");
  }

  standardDeviation(x: Series, rows: number, minPeriods: number | null): Value {
    return this.#dispersion([x], rows, minPeriods, (of) => standardDeviation(this, of), "zero");
  }

  covariance(x: Series, y: Series, rows: number, minPeriods: number | null): Value {
    return this.#dispersion([x, y], rows, minPeriods, (of) => covariance(this, of), "zero");
  }

  correlation(x: Series, y: Series, rows: number, minPeriods: number | null): Value {
    if (rows === 2 && minPeriods === null) return this.#correlationOfTwo(x, y);
    return this.#dispersion([x, y], rows, minPeriods, (of) => correlation(this, of), "null");
  }

  largest(x: Series, rows: number, minPeriods: number | null): Value {
    return this.#extreme("largest", x, rows, minPeriods);
  }

  smallest(x: Series, rows: number, minPeriods: number | null): Value {
    return this.#extreme("smallest", x, rows, minPeriods);
  }

  positionOfLargest(x: Series, rows: number, minPeriods: number | null): Value {
    return this.#position("largest", x, rows, minPeriods);
  }

  positionOfSmallest(x: Series, rows: number, minPeriods: number | null): Value {
    return this.#position("smallest", x, rows, minPeriods);
  }

  rankOfToday(x: Series, rows: number, minPeriods: number | null): Value | null {
    if (rows > ORDER_ROWS_MAX) return null;
    const count = minPeriods === null ? this.number(rows) : this.#count(x, rows);
    const below = countBelow(this, x as ColumnSeries, rows);
    const rank = this.mul(this.add(below, this.number(1)), this.number(0.5));
    const hasEnough = this.and(this.#hasEnough(x, rows, minPeriods), this.eq(x.now, x.now));
    return this.keep(hasEnough, this.div(rank, count));
  }

  quantile(x: Series, rows: number, share: number, minPeriods: number | null): Value | null {
    if (!(share >= 0 && share <= 1)) return this.null;
    if (rows > ORDER_ROWS_MAX) return null;
    const sorted = sortedWindow(this, columnOf(x), x.now, rows);
    const hasEnough = this.#hasEnough(x, rows, minPeriods);
    const last = minPeriods === null ? this.number(rows - 1) : this.sub(this.#count(x, rows), this.number(1));
    const position = this.mul(this.number(share), last);
    const index = this.floor(position);
    const part = this.sub(position, index);
    const below = this.loadWindowAt(sorted, index);
    const above = this.loadWindowAt(sorted, this.min(this.add(index, this.number(1)), last));
    const result = this.scope(() => this.#interpolate(below, above, part));
    const isPlain = this.or(this.eq(part, this.number(0)), this.eq(below, above));
    const isOpen = this.andNot(this.and(hasEnough, this.isNull(result)), isPlain);
    const value = this.select(isPlain, this.add(below, this.number(0)), result);
    this.leaveOpen(isOpen, null);
    return this.keep(hasEnough, value);
  }

  product(x: Series, rows: number): Value {
    const column = columnOf(x);
    const result = this.scope(() => {
      let product: Pair = { high: x.now, low: this.number(0) };
      let least = this.abs(x.now);
      let most = least;
      let hasZero = this.eq(x.now, this.number(0));
      for (let lag = 1; lag < rows; lag++) {
        const value = this.load(column, lag);
        hasZero = this.or(hasZero, this.eq(value, this.number(0)));
        product = timesNumber(this, product, value);
        least = this.pmin(least, this.abs(product.high));
        most = this.pmax(most, this.abs(product.high));
      }
      const error = this.mul(this.abs(product.high), this.number(rows * PAIR_ERROR));
      const isSafe = this.and(this.gt(least, this.number(2 ** -900)), this.lt(most, this.number(2 ** 900)));
      const isDecided = this.and(isSafe, isCertain(this, product, error));
      // Finite values with a zero among them have the product 0.
      const areFinite = this.ge(runLengthOf(this, "finite", [x]), this.number(rows));
      const isZero = this.and(hasZero, areFinite);
      const value = this.select(isZero, this.number(0), product.high);
      return [value, this.or(isDecided, isZero) as unknown as Value];
    }) as [Value, Value];
    const hasEnough = this.#hasEnough(x, rows, null);
    const isOpen = this.andNot(hasEnough, result[1] as unknown as Mask);
    this.leaveOpen(isOpen, null);
    return this.keep(hasEnough, result[0]);
  }

  slope(x: Series, rows: number, minPeriods: number | null): Value | null {
    return this.#line(x, rows, minPeriods, { ofConstants: 0 }, (sums, at) => slopeOf(this, sums, at, rows));
  }

  residual(x: Series, rows: number, minPeriods: number | null): Value | null {
    const rules = { ofConstants: 0, isAsked: this.eq(x.now, x.now), areTwoConstant: true };
    return this.#line(x, rows, minPeriods, rules, (sums, at) => residualOf(this, x.now, sums, at, rows));
  }

  rSquare(x: Series, rows: number, minPeriods: number | null): Value | null {
    return this.#line(x, rows, minPeriods, { ofConstants: null }, (sums, at) => {
      const of = moments(this, [x as ColumnSeries], rows, minPeriods !== null);
      return { ...rSquareOf(this, sums, at, of, rows), site: of.site };
    });
  }

  #line(
    x: Series,
    rows: number,
    minPeriods: number | null,
    { ofConstants, isAsked, areTwoConstant = false }: LineRules,
    emit: (sums: LinearSums, at: Positions) => BoundedPair & { readonly site?: number },
  ): Value | null {
    if (rows > LINE_ROWS_MAX) return null;
    if (rows < 2) return this.null;
    const column = x as ColumnSeries;
    const sums = linearSums(this, column, rows, true);
    const at = minPeriods === null ? fullPositions(this, rows) : positionsOf(this, column, rows);
    const fact = minPeriods === null ? "finite" : "bounded";
    const areFinite = this.ge(runLengthOf(this, fact, [x]), this.number(rows));
    const least = this.number(Math.max(2, minPeriods ?? 0));
    const hasEnough = minPeriods === null ? areFinite : this.ge(at.count, least);
    const hasValue = isAsked === undefined ? hasEnough : this.and(hasEnough, isAsked);
    let { site } = sums;
    const result = this.scope(() => {
      const bounded = emit(sums, at);
      site = bounded.site ?? site;
      return [bounded.high, this.not(isCertain(this, bounded, bounded.error)) as unknown as Value];
    }) as [Value, Value];
    const isUncertain = this.or(result[1] as unknown as Mask, this.not(areFinite));
    const constant = ofConstants === null ? this.null : this.number(ofConstants);
    const isConstant = () => {
      const areEqual = isUnchanged(this, column, rows);
      const isKnown = areTwoConstant ? this.or(areEqual, this.eq(at.count, this.number(2))) : areEqual;
      return this.and(isKnown, areFinite);
    };
    const isOpen = this.and(hasValue, isUncertain);
    return this.keep(hasValue, this.#openUnless(isConstant, constant, isOpen, result[0], site));
  }

  /** `below + (above - below) * part` for `below < above` and a part above 0, or null where it is open. */
  #interpolate(below: Value, above: Value, part: Value): Value {
    const difference = twoSum(this, above, this.neg(below));
    const scaled = times(this, difference, { high: part, low: this.number(0) });
    const sum = twoSum(this, below, scaled.high);
    const pair = quickTwoSum(this, sum.high, this.add(sum.low, scaled.low));
    const error = this.mul(
      this.add(this.mul(this.number(2), this.abs(scaled.high)), this.abs(pair.high)),
      this.number(PAIR_ERROR),
    );
    const magnitude = this.abs(pair.high);
    const isSafe = this.and(
      this.gt(magnitude, this.number(2 ** -900)),
      this.lt(magnitude, this.number(2 ** 900)),
    );
    const smooth = this.keep(this.and(isSafe, isCertain(this, pair, error)), pair.high);
    // Half of a sum that rounds once is the mean of the two.
    const isZero = this.eq(below, this.neg(above));
    const isHalf = this.and(this.eq(part, this.number(0.5)), this.or(isSafe, isZero));
    return this.select(isHalf, this.mul(this.add(below, above), this.number(0.5)), smooth);
  }

  #extreme(extreme: Extreme, x: Series, rows: number, minPeriods: number | null): Value {
    const value = extremeOf(this, extreme, columnOf(x), x.now, rows, minPeriods !== null);
    return this.keep(this.#hasEnough(x, rows, minPeriods), value);
  }

  #position(extreme: Extreme, x: Series, rows: number, minPeriods: number | null): Value {
    const column = columnOf(x);
    const row = rowOfExtreme(this, extreme, column, x.now, rows, minPeriods !== null);
    const oldest = this.max(this.sub(this.rowNumber, this.number(rows - 1)), this.number(0));
    const position = this.add(this.sub(row, oldest), this.number(1));
    const hasEnough = this.#hasEnough(x, rows, minPeriods);
    if (minPeriods === null) return this.keep(hasEnough, position);
    // A null counts as the value that never wins: where that value is the extreme, they cannot be told apart.
    const value = extremeOf(this, extreme, column, x.now, rows, true);
    const never = extreme === "largest" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    const isLast = this.eq(value, this.number(never));
    this.leaveOpen(this.and(hasEnough, isLast), null);
    return this.keep(hasEnough, position);
  }

  /** True where the window holds enough values. */
  #hasEnough(x: Series, rows: number, minPeriods: number | null): Mask {
    return minPeriods === null
      ? this.ge(runLengthOf(this, "valid", [x]), this.number(rows))
      : this.ge(this.#count(x, rows), this.number(minPeriods));
  }

  #count(x: Series, rows: number): Value {
    const column = columnOf(x);
    return this.once(`count ${column} ${rows}`, () => {
      const vector = this.state.addWindow([0]);
      this.noteSite({ kind: "count", column, windowRows: rows, vector, counts: "valid" });
      const one = this.number(1);
      const old = this.load(column, rows);
      const entering = this.keepOrZero(this.eq(x.now, x.now), one);
      const leaving = this.keepOrZero(this.eq(old, old), one);
      const count = this.add(this.loadWindow(vector), this.sub(entering, leaving));
      this.storeWindow(vector, count);
      return count;
    });
  }

  /**
   * An exact sum in two parts, divided by a whole number and rounded once.
   *
   * @param weights sum of the magnitudes of the values' weights
   */
  #roundLinear(
    x: Series,
    rows: number,
    minPeriods: number | null,
    sums: LinearSums,
    parts: readonly [Value, Value],
    divisor: Value,
    weights: number,
  ): Value {
    const hasEnough = this.#hasEnough(x, rows, minPeriods);
    const isWhole = this.constantOf(divisor) === 1;
    const rounded = (low: Value) =>
      isWhole ? this.add(parts[0], low) : roundedQuotient(this, twoSum(this, parts[0], low), divisor);
    const value = this.scope(() => rounded(parts[1]));
    const { truncated } = sums;
    if (truncated === null) return this.keep(hasEnough, value);
    this.ifAny(truncated.mask, () => {
      this.scope(() => {
        // Dropped bits do not matter where the largest and the least possible sum round alike.
        const dropped = this.mul(truncated.dropped, this.number(weights));
        const least = rounded(this.sub(parts[1], dropped));
        const most = rounded(this.add(parts[1], dropped));
        const isKnown = this.and(this.eq(least, most), isBounded(this, x as ColumnSeries, rows));
        this.leaveOpen(this.and(hasEnough, this.andNot(truncated.mask, isKnown)), sums.site);
        return [];
      });
    });
    return this.keep(hasEnough, value);
  }

  /** Two rows lie on a line, which rises or falls; there is no correlation where it is level or upright. */
  #correlationOfTwo(x: Series, y: Series): Value {
    const infinity = this.number(Number.POSITIVE_INFINITY);
    const change = (one: Series) => {
      const before = this.load(columnOf(one), 1);
      const areFinite = this.and(this.lt(this.abs(one.now), infinity), this.lt(this.abs(before), infinity));
      return { step: this.sub(one.now, before), hasValue: this.and(areFinite, this.ne(one.now, before)) };
    };
    const [ofX, ofY] = [change(x), change(y)];
    const sign = this.andBits(this.xorBits(ofX.step, ofY.step), this.number(-0));
    return this.keep(this.and(ofX.hasValue, ofY.hasValue), this.orBits(this.number(1), sign));
  }

  /** @param ofConstants the value where a series is constant over the window */
  #dispersion(
    series: readonly Series[],
    rows: number,
    minPeriods: number | null,
    emit: (of: Moments) => BoundedPair,
    ofConstants: "zero" | "null",
  ): Value {
    if (rows < 2) return this.null;
    const columns = series.map((one) => one as ColumnSeries);
    const isJoint = minPeriods !== null;
    const of = moments(this, columns, rows, isJoint);
    // With nulls left out, an infinity may be in a row that does not count: the reference decides.
    const fact = isJoint ? "bounded" : columns.every(({ range }) => range !== null) ? "valid" : "finite";
    const areFinite = this.ge(runLengthOf(this, fact, columns), this.number(rows));
    const hasValue = isJoint ? this.ge(of.count, this.number(Math.max(2, minPeriods))) : areFinite;
    const result = this.scope(() => {
      const bounded = emit(of);
      const open = this.not(isCertain(this, bounded, bounded.error));
      return [bounded.high, (isJoint ? this.or(open, this.not(areFinite)) : open) as unknown as Value];
    }) as [Value, Value];
    const constant = ofConstants === "zero" ? this.number(0) : this.null;
    const isConstant = () => {
      const areUnchanged = columns.map((column) => isUnchanged(this, column, rows));
      return this.and(
        areUnchanged.reduce((a, b) => this.or(a, b)),
        areFinite,
      );
    };
    const isOpen = this.and(hasValue, result[1] as unknown as Mask);
    return this.keep(hasValue, this.#openUnless(isConstant, constant, isOpen, result[0], of.site));
  }

  /**
   * The value, marked as open where `isOpen`; but windows of equal values, which sums leave open unless all are 0 and
   * the result is, have the constant.
   */
  #openUnless(isConstant: () => Mask, constant: Value, isOpen: Mask, x: Value, site: number): Value {
    const value = this.copy(x);
    this.ifAny(isOpen, () => {
      this.scope(() => {
        const mask = isConstant();
        this.assign(value, this.select(this.and(isOpen, mask), constant, value));
        this.leaveOpen(this.andNot(isOpen, mask), site);
        return [];
      });
    });
    return value;
  }
}

function columnOf(x: Series): number {
  return (x as ColumnSeries).column;
}
