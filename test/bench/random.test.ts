import { expect, test } from "vitest";
import { splitMix64, Xoshiro128 } from "../../src/bench/random.ts";

test("splitMix64 gives the numbers that are published for seed 1234567", () => {
  expect(splitMix64(1234567n, 5)).toEqual([
    6457827717110365317n,
    3203168211198807973n,
    9817491932198370423n,
    4593380528125082431n,
    16408922859458223821n,
  ]);
});

test("xoshiro128** gives the numbers of its authors' C code for state 1, 2, 3, 4", () => {
  const random = new Xoshiro128([1, 2, 3, 4]);
  expect(Array.from({ length: 10 }, () => random.next())).toEqual([
    11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
  ]);
});

test("a seed gives the halves of two numbers of splitMix64, low half first", () => {
  const [first, second] = splitMix64(7n, 2) as [bigint, bigint];
  const words = [first, first >> 32n, second, second >> 32n].map((word) => Number(word & 0xffffffffn));
  const [seeded, given] = [Xoshiro128.seeded(7n), new Xoshiro128(words as [number, number, number, number])];
  for (let i = 0; i < 100; i++) expect(seeded.next()).toBe(given.next());
});

test("uniform numbers lie between 0 and 1, with the mean and the spread that they should have", () => {
  const random = Xoshiro128.seeded(1n);
  const values = Array.from({ length: 100_000 }, () => random.uniform());
  expect(values.every((value) => value > 0 && value < 1)).toBe(true);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  expect(Math.abs(mean - 1 / 2)).toBeLessThan(0.003);
  expect(Math.abs(variance - 1 / 12)).toBeLessThan(0.001);
});
