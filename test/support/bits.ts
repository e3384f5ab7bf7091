/** The 64-bit patterns of values, so that tests tell -0 from 0. */
export function bitsOf(values: Iterable<number>): BigUint64Array {
  return new BigUint64Array(Float64Array.from(values).buffer);
}
