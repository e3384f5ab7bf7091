/** `ln 2` truncated to 42 bits, so that its product with the exponent of any double is exact. */
export const LN2_HIGH = 0.6931471805598903;

/** The rest: the sum of the two is `ln 2` with an error of 2^-97. */
export const LN2_LOW = 5.497923018708371e-14;
