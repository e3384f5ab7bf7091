import { describe, expect, test } from "vitest";
import { isSameValue, relativeDistance, ulpDistance } from "../../src/difference/distance.ts";

const NEXT_AFTER_ONE = 1 + Number.EPSILON;
const TINY = Number.MIN_VALUE;

describe("values are the same", () => {
  test.each([
    [1, 1, true],
    [1, NEXT_AFTER_ONE, false],
    [0, 0, true],
    [-0, -0, true],
    [0, -0, false],
    [Number.NaN, Number.NaN, true],
    [Number.NaN, 0, false],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, true],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, false],
  ])("%d and %d: %s", (a, b, same) => {
    expect([isSameValue(a, b), isSameValue(b, a)]).toEqual([same, same]);
  });
});

describe("distances", () => {
  test.each([
    [1, NEXT_AFTER_ONE, 1],
    [0, -0, 0],
    [0, TINY, 1],
    [-TINY, TINY, 2],
    [-1, -NEXT_AFTER_ONE, 1],
    [1, 2, 2 ** 52],
  ])("from %d to %d are %d ulp", (a, b, ulps) => {
    expect([ulpDistance(a, b), ulpDistance(b, a)]).toEqual([ulps, ulps]);
  });

  test.each([
    [1, 2, 0.5],
    [0, -0, 0],
    [0, 3, 1],
    [-3, 3, 2],
    [Number.MAX_VALUE, -Number.MAX_VALUE, 2],
    [TINY, 2 * TINY, 0.5],
  ])("from %d to %d are %d of the larger one", (a, b, relative) => {
    expect([relativeDistance(a, b), relativeDistance(b, a)]).toEqual([relative, relative]);
  });
});
