/**
 * Safe magnitudes of pairs (double-doubles), here and in compiled code. Bounds on errors are relative: a pair errs by
 * some 2^-100 of its value. That holds while no part underflows (the least subnormal is 2^-1074) and no factor
 * overflows when it is split (2^27 + 1 times the factor, so from 2^996 on). What lies outside is undecided, never
 * wrong. Whoever uses a limit has to see to what its comment asks for.
 */
export const MAGNITUDES = {
  /**
   * Below every value, product and quotient. The last bits of a product are 2^-106 of it, so above 2^-1006, and what
   * their rounding loses, 2^-53 of them, is above 2^-1060.
   */
  pairMin: 2 ** -900,

  /** Above every value, product and quotient: splitting reaches 2^928, and sums of 2^68 values stay below 2^996. */
  pairMax: 2 ** 900,

  /** Below a dividend whose divisor is less than 2^63, as a spread of positions: the quotient is above 2^-863. */
  dividendMin: 2 ** -800,

  /** Below a factor that is squared: the square is above 2^-800, and a dividend as above. */
  squaredMin: 2 ** -400,

  /** Above the distances of a window whose powers are added up: times 2^33 and to the fourth they stay below 2^732. */
  powerMax: 2 ** 150,

  /** Below n times the sum of squares of such a window: its square is above 2^-800. */
  powerSquareMin: 2 ** -400,

  /**
   * Above the relative error of a divisor or of the square of one, once it is doubled on the way: with e up to here
   * 1 / (1 - e) < 1 + 2 e and 1 / sqrt(1 - e) < 1 + e, so the terms of second order are covered.
   */
  relativeErrorMax: 2 ** -10,

  /** Above the values of a row, 2^16 at most: deviations times their number are below 2^317, sums of squares 2^650. */
  rowMax: 2 ** 300,

  /**
   * Below the largest value of a row: exact deviations are multiples of 2^-71 of it, so above 2^-371, others err by
   * 2^-101 of it, so above 2^-401; the squares of both are above `pairMin`.
   */
  rowMin: 2 ** -300,

  /** Below the other values of a row that shares divide: with the limits here a share is above 2^-917. */
  rowValueMin: 2 ** -500,

  /** Above the sum of shares, which is above 1 over this as well: over the sum of a row it is below 2^401. */
  shareFactorMax: 2 ** 100,

  /** Above the number of standard deviations between a mean and a limit, which is below 2^362. */
  deviationFactorMax: 2 ** 60,
} as const;
