import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scalarArithmetic as on } from "../../src/elementary/scalar.ts";

const bytes = new DataView(new ArrayBuffer(8));

function doubleOf(pattern: bigint): number {
  bytes.setBigUint64(0, BigInt.asUintN(64, pattern));
  return bytes.getFloat64(0);
}

/** Bit patterns except NaNs, whose bits may be lost. */
const pattern = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).filter((bits) => !Number.isNaN(doubleOf(bits)));

describe("operations on bits", () => {
  test.each([
    ["addBits", (a: bigint, b: bigint) => a + b],
    ["subBits", (a: bigint, b: bigint) => a - b],
    ["andBits", (a: bigint, b: bigint) => a & b],
    ["orBits", (a: bigint, b: bigint) => a | b],
    ["xorBits", (a: bigint, b: bigint) => a ^ b],
  ] as const)("%s", (name, definition) => {
    fc.assert(
      fc.property(pattern, pattern, (a, b) => {
        expect(on[name](doubleOf(a), on.bits(b))).toBe(doubleOf(definition(a, b)));
      }),
    );
  });

  test.each([
    ["shiftLeft", (a: bigint, count: bigint) => a << count],
    ["shiftRight", (a: bigint, count: bigint) => a >> count],
  ] as const)("%s", (name, definition) => {
    fc.assert(
      fc.property(pattern, fc.integer({ min: 0, max: 63 }), (a, count) => {
        expect(on[name](doubleOf(a), count)).toBe(doubleOf(definition(a, BigInt(count))));
      }),
    );
  });
});

test("nearest goes to the even one from half-way and keeps the sign of zero", () => {
  const xs = [0.5, 1.5, 2.5, -0.5, -1.5, -0, 0.49999999999999994, 2 ** 52 - 0.5, -(2 ** 53) + 1, -Infinity];
  const wanted = [0, 2, 2, -0, -2, -0, 0, 2 ** 52, -(2 ** 53) + 1, -Infinity];
  expect(xs.map(on.nearest)).toEqual(wanted);
});

test("masks", () => {
  const { and, or, not, andNot, select } = on;
  expect([and(true, false), or(true, false), not(true), andNot(true, false), andNot(true, true)]).toEqual([
    false,
    true,
    false,
    true,
    false,
  ]);
  expect([select(true, 1, 2), select(false, 1, 2)]).toEqual([1, 2]);
});
