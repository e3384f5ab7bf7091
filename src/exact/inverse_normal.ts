/**
 * Coefficients of algorithm AS 241 (PPND16) of Wichura (1988), Applied Statistics 37(3), 477-484,
 * doi:10.2307/2347330, highest power first.
 */
interface Rational {
  readonly above: readonly number[];
  readonly below: readonly number[];
}

const CENTER: Rational = {
  above: [
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
  ],
  below: [
    5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
    5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1,
  ],
};

const TAIL: Rational = {
  above: [
    7.7454501427834140764e-4, 2.27238449892691845833e-2, 0.24178072517745061177, 1.27045825245236838258,
    3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734,
  ],
  below: [
    1.05075007164441684324e-9, 5.475938084995344946e-4, 1.51986665636164571966e-2, 0.14810397642748007459,
    0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1,
  ],
};

const FAR_TAIL: Rational = {
  above: [
    2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.2426609473880784386e-3, 2.6532189526576123093e-2,
    0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772,
  ],
  below: [
    2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.84631831751005468180e-5, 7.868691311456132591e-4,
    1.48753612908506148525e-2, 0.1369298809227358053, 0.59983220655588793769, 1,
  ],
};

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
}

/**
 * The z that a standard normal variable falls below with probability p, for 0 < p < 1, from `offset = p - 1/2` and
 * `tail = min(p, 1 - p)`: of the two, the one that is precise near p is used, and z of 1 - p is minus z of p to the
 * last bit. Not exact: see the test for the accuracy.
 */
export function inverseNormal(offset: number, tail: number): number {
  if (Math.abs(offset) <= 0.425) {
    const r = 0.180625 - offset * offset;
    return (polynomial(CENTER.above, r) * offset) / polynomial(CENTER.below, r);
  }
  const depth = Math.sqrt(-Math.log(tail));
  const { above, below } = depth <= 5 ? TAIL : FAR_TAIL;
  const r = depth - (depth <= 5 ? 1.6 : 5);
  const z = polynomial(above, r) / polynomial(below, r);
  return offset < 0 ? -z : z;
}
