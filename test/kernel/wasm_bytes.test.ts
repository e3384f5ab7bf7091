import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Bytes } from "../../src/kernel/emit/bytes.ts";

function encoded(append: (bytes: Bytes) => void): number[] {
  const bytes = new Bytes();
  append(bytes);
  return [...bytes.view()];
}

/** Reads LEB128 as specified: seven bits per byte, lowest first. */
function decoded(bytes: readonly number[], isSigned: boolean): bigint {
  const bits = bytes.reduce((sum, byte, i) => sum | (BigInt(byte & 0x7f) << BigInt(7 * i)), 0n);
  const isNegative = isSigned && (bytes.at(-1)! & 0x40) !== 0;
  return isNegative ? bits - (1n << BigInt(7 * bytes.length)) : bits;
}

const isWhole = (bytes: readonly number[]) => bytes.every((byte, i) => byte >= 0x80 === i < bytes.length - 1);

describe("whole numbers in LEB128", () => {
  test.each([
    [0, [0]],
    [1, [1]],
    [127, [0x7f]],
    [128, [0x80, 1]],
    [16_383, [0xff, 0x7f]],
    [16_384, [0x80, 0x80, 1]],
    [624_485, [0xe5, 0x8e, 0x26]],
    [2 ** 31, [0x80, 0x80, 0x80, 0x80, 8]],
    [2 ** 32 - 1, [0xff, 0xff, 0xff, 0xff, 0x0f]],
  ])("unsigned %i", (value, expected) => {
    expect(encoded((bytes) => bytes.unsigned(value))).toEqual(expected);
  });

  test.each([
    [0, [0]],
    [-1, [0x7f]],
    [63, [0x3f]],
    [64, [0xc0, 0]],
    [-64, [0x40]],
    [-65, [0xbf, 0x7f]],
    [127, [0xff, 0]],
    [-128, [0x80, 0x7f]],
    [-123_456, [0xc0, 0xbb, 0x78]],
    [2 ** 31 - 1, [0xff, 0xff, 0xff, 0xff, 7]],
    [-(2 ** 31), [0x80, 0x80, 0x80, 0x80, 0x78]],
  ])("signed %i", (value, expected) => {
    expect(encoded((bytes) => bytes.signed(value))).toEqual(expected);
    expect(encoded((bytes) => bytes.signed64(BigInt(value)))).toEqual(expected);
  });

  test("signed, at the ends of 64 bits", () => {
    const nines = new Array(9).fill(0xff);
    expect(encoded((bytes) => bytes.signed64(2n ** 63n - 1n))).toEqual([...nines, 0]);
    expect(encoded((bytes) => bytes.signed64(-(2n ** 63n)))).toEqual([...new Array(9).fill(0x80), 0x7f]);
  });

  test("read back as what they were", () => {
    fc.assert(
      fc.property(fc.nat(2 ** 32 - 1), fc.integer(), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (u, s, big) => {
        const texts = [
          [encoded((bytes) => bytes.unsigned(u)), false, BigInt(u)],
          [encoded((bytes) => bytes.signed(s)), true, BigInt(s)],
          [encoded((bytes) => bytes.signed64(big)), true, big],
        ] as const;
        for (const [bytes, isSigned, value] of texts) {
          expect(isWhole(bytes)).toBe(true);
          expect(decoded(bytes, isSigned)).toBe(value);
        }
      }),
    );
  });
});

describe("other bytes", () => {
  test("doubles keep their bits", () => {
    expect(encoded((bytes) => bytes.double(-0))).toEqual([0, 0, 0, 0, 0, 0, 0, 0x80]);
    expect(encoded((bytes) => bytes.double(1))).toEqual([0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
  });

  test("a run of bytes follows its length", () => {
    const run = Uint8Array.from({ length: 300 }, (_, i) => i % 256);
    expect(encoded((bytes) => bytes.counted(run))).toEqual([0xac, 2, ...run]);
  });

  test("any number of bytes fits", () => {
    const bytes = new Bytes();
    for (let i = 0; i < 1000; i++) bytes.byte(i % 251);
    bytes.append(Uint8Array.from({ length: 5000 }, (_, i) => i % 13));
    expect(bytes.length).toBe(6000);
    expect([...bytes.view().subarray(998, 1003)]).toEqual([998 % 251, 999 % 251, 0, 1, 2]);
  });
});
