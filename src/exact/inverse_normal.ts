/**
 * Coefficients of algorithm AS 241 (PPND16) of Wichura (1988), Applied Statistics 37(3), 477-484,
 * doi:10.2307/2347330, highest power first, as doubles.
 */
interface Rational {
  readonly above: readonly number[];
  readonly below: readonly number[];
}

const CENTER: Rational = {
  above: [
    2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946,
    1971.5909503065513, 133.14166789178438, 3.3871328727963665,
  ],
  below: [
    5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751,
    687.1870074920579, 42.31333070160091, 1,
  ],
};

const TAIL: Rational = {
  above: [
    0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045,
    5.769497221460691, 4.630337846156546, 1.4234371107496835,
  ],
  below: [
    1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
    1.6763848301838038, 2.053191626637759, 1,
  ],
};

const FAR_TAIL: Rational = {
  above: [
    2.0103343992922881e-7, 0.000027115555687434876, 0.0012426609473880784, 0.026532189526576124,
    0.29656057182850487, 1.7848265399172913, 5.463784911164114, 6.657904643501103,
  ],
  below: [
    2.0442631033899397e-15, 1.421511758316446e-7, 0.000018463183175100548, 0.0007868691311456133,
    0.014875361290850615, 0.1369298809227358, 0.599832206555888, 1,
  ],
};

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
}

/**
 * The value below which a standard normal variable falls with probability p, 0 < p < 1. The caller passes `offset = p -
 * 1/2` and `tail = min(p, 1 - p)`; the one that is precise near p is used. The result of 1 - p is minus that of p to
 * the last bit. Not exact: the test states the accuracy.
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
