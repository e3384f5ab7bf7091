import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scalarArithmetic } from "../../src/elementary/scalar.ts";
import { FUNCTIONS } from "./functions.ts";

const { NaN: none, POSITIVE_INFINITY: inf, MAX_VALUE: max, MIN_VALUE: tiny, EPSILON: epsilon } = Number;

function result(name: string, x: number, y = 0): number {
  const tested = FUNCTIONS.find((candidate) => candidate.name === name);
  return tested?.emit(scalarArithmetic, x, y) ?? expect.fail(`no function ${name}`);
}

test.each([
  ["exp", 0, 1],
  ["exp", -0, 1],
  ["exp", tiny, 1],
  ["exp", -inf, 0],
  ["exp", -max, 0],
  ["exp", -746, 0],
  ["exp", -745.1332191019412, 0], // below the logarithm of half the smallest subnormal
  ["exp", -745.1332191019411, tiny],
  ["exp", 709.782712893384, 1.7976931348622732e308],
  ["exp", 709.7827128933841, inf],
  ["exp", max, inf],
  ["exp", inf, inf],
  ["exp", none, none],
  ["log", 1, 0],
  ["log", 0, -inf],
  ["log", -0, -inf],
  ["log", inf, inf],
  ["log", max, 709.782712893384],
  ["log", tiny, -744.4400719213812],
  ["log", 1 + epsilon, epsilon - epsilon ** 2 / 2],
  ["log", -tiny, none],
  ["log", -1, none],
  ["log", -inf, none],
  ["log", none, none],
  ["log1p", 0, 0],
  ["log1p", -0, -0],
  ["log1p", tiny, tiny],
  ["log1p", -tiny, -tiny],
  ["log1p", epsilon / 4, epsilon / 4],
  ["log1p", -1, -inf],
  ["log1p", -1 + epsilon / 2, -36.7368005696771],
  ["log1p", -1 - epsilon, none],
  ["log1p", -inf, none],
  ["log1p", max, 709.782712893384],
  ["log1p", inf, inf],
  ["log1p", none, none],
  ["tanh", 0, 0],
  ["tanh", -0, -0],
  ["tanh", tiny, tiny],
  ["tanh", -tiny, -tiny],
  ["tanh", 19, 1 - epsilon / 2],
  ["tanh", 19.1, 1],
  ["tanh", max, 1],
  ["tanh", inf, 1],
  ["tanh", -inf, -1],
  ["tanh", none, none],
])("%s(%d) = %d", (name, x, expected) => {
  expect(result(name, x)).toBe(expected);
});

// IEEE 754-2019, 9.2.1, but for null: NaN in, NaN out.
test.each([
  [0, 0, 1],
  [-0, -0, 1],
  [inf, 0, 1],
  [-inf, -0, 1],
  [-1.5, 0, 1],
  [1, inf, 1],
  [1, -inf, 1],
  [-1, inf, 1],
  [-1, -inf, 1],
  [1, max, 1],
  [-1, max, 1],
  [-1, 2 ** 53 - 1, -1],
  [-1, -(2 ** 53) + 1, -1],
  [0, -3, inf],
  [-0, -3, -inf],
  [-0, -2, inf],
  [-0, -2.5, inf],
  [0, -inf, inf],
  [-0, -inf, inf],
  [0, tiny, 0],
  [0, -tiny, inf],
  [-0, 3, -0],
  [-0, 2, 0],
  [-0, 0.5, 0],
  [0, inf, 0],
  [0.5, inf, 0],
  [-0.5, inf, 0],
  [-0.5, -inf, inf],
  [2, inf, inf],
  [-2, inf, inf],
  [-2, -inf, 0],
  [inf, 0.5, inf],
  [inf, -tiny, 0],
  [inf, inf, inf],
  [inf, -inf, 0],
  [-inf, 3, -inf],
  [-inf, 2, inf],
  [-inf, 2.5, inf],
  [-inf, -3, -0],
  [-inf, -2, 0],
  [-inf, -2.5, 0],
  [-8, 1 / 3, none],
  [-tiny, 0.5, none],
  [-2, -3, -0.125],
  [-2, 2 ** 53, inf],
  [-2, 2 ** 53 - 1, -inf],
  [-2, 1025, -inf],
  [-2, -1075, -0],
  [2, -1074, tiny],
  [2, -1075, 0], // half-way, to even
  [2, 1023, 2 ** 1023],
  [2, 1024, inf],
  [1 + epsilon, max, inf],
  [1 - epsilon / 2, max, 0],
  [max, max, inf],
  [tiny, max, 0],
  [tiny, -max, inf],
  [max, tiny, 1],
  [none, 1, none],
  [1, none, none],
  [none, 0, none],
  [none, none, none],
  [0, none, none],
  [inf, none, none],
])("power(%d, %d) = %d", (x, y, expected) => {
  expect(result("power", x, y)).toBe(expected);
});

describe("powers that are doubles", () => {
  test("of small whole numbers", () => {
    for (let base = 2; base <= 3000; base++)
      for (let exponent = 1, exact = base; exact <= Number.MAX_SAFE_INTEGER; exponent++, exact *= base) {
        if (result("power", base, exponent) !== exact) expect.fail(`${base} ^ ${exponent}`);
        if (result("power", -base, exponent) !== exact * (-1) ** exponent)
          expect.fail(`-${base} ^ ${exponent}`);
        if (result("power", exact, 1) !== exact) expect.fail(`${exact} ^ 1`);
      }
  });

  test("of two, subnormals included", () => {
    for (let exponent = -1074; exponent < 1024; exponent++) {
      if (result("power", 2, exponent) !== 2 ** exponent) expect.fail(`2 ^ ${exponent}`);
      if (result("power", 2 ** exponent, 0.5) !== Math.sqrt(2 ** exponent) && exponent % 2 === 0)
        expect.fail(`(2 ^ ${exponent}) ^ 0.5`);
      if (exponent > -1023 && result("power", 2 ** exponent, -1) !== 2 ** -exponent)
        expect.fail(`(2 ^ ${exponent}) ^ -1`);
    }
  });

  test("first powers, and squares of numbers of 26 bits", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (x) => {
        expect(result("power", x, 1)).toBe(x);
        const short = Math.fround(x) + 0; // 24 bits
        expect(result("power", short, 2)).toBe(short * short);
        const root = Math.abs(Math.fround(x));
        expect(result("power", root * root, 0.5)).toBe(Math.sqrt(root * root));
      }),
      { numRuns: 5000 },
    );
  });
});

test("signs, symmetry and bounds", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true }), (x) => {
      expect(result("tanh", -x)).toBe(-result("tanh", x));
      expect(Math.abs(result("tanh", x))).toBeLessThanOrEqual(Math.min(1, Math.abs(x)));
      expect(Math.sign(result("log1p", x))).toBe(x < -1 ? none : Math.sign(x));
      expect(result("exp", x) >= 1).toBe(x >= 0 || x > -epsilon / 4);
    }),
  );
});
