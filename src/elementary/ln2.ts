/** `ln 2` cut to 42 bits, so that its product with the exponent of any double is exact. */
export const LN2_HIGH = 0.6931471805598903;

/** What `LN2_HIGH` lacks: the two together are `ln 2` with an error of 2^-97. */
export const LN2_LOW = 5.497923018708371e-14;
