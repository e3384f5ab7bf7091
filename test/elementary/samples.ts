/** Arguments for the elementary functions: random over every range in which the code behaves differently. */

/** Repeatable noise in 0..1 with 53 random bits (the 64-bit generator of Knuth's MMIX). */
function noise(seed: number): () => number {
  let state = BigInt(seed);
  return () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number(state >> 11n) / 2 ** 53;
  };
}

/** The arguments of one call; a function of one argument ignores the second. */
type Arguments = readonly [x: number, y: number];
type Draw = (random: () => number) => Arguments;

/** A positive double of any exponent in a range, subnormals included. */
function anyExponent(random: () => number, least: number, most: number): number {
  return 2 ** Math.floor(least + random() * (most - least)) * (1 + random());
}

const sign = (random: () => number) => (random() < 0.5 ? -1 : 1);
const between = (random: () => number, least: number, most: number) => least + random() * (most - least);

const one = (x: number): Arguments => [x, 0];

/** x and the y for which `y ln x` has the given value, if that is a double. */
function powerOf(x: number, argument: number): Arguments {
  const y = argument / Math.log(x);
  return Number.isFinite(y) ? [x, y] : [x, 1];
}

/** The ranges of each function by name. */
export const RANGES: Readonly<Record<string, Readonly<Record<string, Draw>>>> = {
  exp: {
    "all finite results": (random) => one(between(random, -745, 709.7)),
    "around 0": (random) => one(between(random, -1, 1)),
    "one reduction": (random) => one(between(random, -0.3466, 0.3466)),
    "tiny arguments": (random) => one(sign(random) * anyExponent(random, -1074, 0)),
    "the border of overflow": (random) => one(between(random, 709.7, 709.8)),
    "subnormal results": (random) => one(between(random, -746, -708)),
  },
  log: {
    "all exponents": (random) => one(anyExponent(random, -1074, 1024)),
    "subnormal arguments": (random) => one(anyExponent(random, -1074, -1022)),
    "around 1": (random) => one(between(random, 0.5, 2)),
    "close to 1": (random) => one(1 + sign(random) * anyExponent(random, -52, -1)),
    "where the remainder rounds worst": (random) => one(between(random, 1.26, 1.29)),
  },
  log1p: {
    "all exponents": (random) => one(anyExponent(random, -1074, 1024)),
    "down to -1": (random) => one(between(random, -1, 0)),
    "close to -1": (random) => one(-1 + anyExponent(random, -53, -1)),
    "around 0": (random) => one(between(random, -0.5, 1)),
    "small arguments": (random) => one(sign(random) * anyExponent(random, -60, 0)),
    "the spacing of doubles at 1": (random) => one(sign(random) * anyExponent(random, -55, -50)),
  },
  tanh: {
    "all results": (random) => one(between(random, -20, 20)),
    "around 0": (random) => one(between(random, -1, 1)),
    "tiny arguments": (random) => one(sign(random) * anyExponent(random, -1074, 0)),
    "the second reduction": (random) => one(between(random, 0.17, 0.25)),
    "where it saturates": (random) => one(between(random, 17.5, 19.5)),
  },
  power: {
    "all bases": (random) => powerOf(anyExponent(random, -1022, 1024), between(random, -708, 709)),
    "usual bases": (random) => [between(random, 0, 200), between(random, -10, 10)],
    "bases around 1": (random) => powerOf(between(random, 0.7, 1.4), between(random, -708, 709)),
    "bases close to 1": (random) =>
      powerOf(1 + sign(random) * anyExponent(random, -52, -1), between(random, -708, 709)),
    "edges of the reduction": (random) =>
      powerOf(
        (sign(random) < 0 ? 0.8409 : 1.1892) + between(random, -0.01, 0.01),
        sign(random) * between(random, 500, 708),
      ),
    "subnormal bases": (random) => [anyExponent(random, -1074, -1022), between(random, -0.95, 0.95)],
    "small exponents": (random) => [anyExponent(random, -1022, 1024), anyExponent(random, -1074, 0)],
    "the border of overflow": (random) =>
      powerOf(anyExponent(random, -1022, 1024), between(random, 709.5, 710)),
    "subnormal results": (random) => powerOf(anyExponent(random, -1022, 1024), between(random, -746, -708)),
  },
};

/** Draws `count` arguments of a range. */
export function* drawFrom(draw: Draw, count: number, seed: number): Generator<Arguments> {
  const random = noise(seed);
  for (let i = 0; i < count; i++) yield draw(random);
}
