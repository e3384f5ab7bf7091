import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { roundRatio } from "../../src/exact/dyadic.ts";
import {
  exactFittedValues,
  exactProjections,
  exactRejections,
  exactResiduals,
} from "../../src/exact/row_statistics.ts";
import { add, exactRow, moment, runs, vectors, written } from "./row_values.ts";

const { NaN: none, POSITIVE_INFINITY: inf } = Number;
type Vectors = (a: Float64Array, b: Float64Array, output: Float64Array) => void;
const apply = (write: Vectors, a: Float64Array, b: Float64Array) =>
  written(a.length, (output) => write(a, b, output));
const of = (write: Vectors, a: number[], b: number[]) =>
  apply(write, Float64Array.from(a), Float64Array.from(b));

describe("every result is the exact value rounded once", () => {
  test("residuals and fitted values", () => {
    fc.assert(
      fc.property(vectors(2), ([y, x]) => {
        const [a, b] = [exactRow(y!), exactRow(x!)];
        const [above, below] = [moment(a.integers, b.integers), moment(b.integers, b.integers)];
        const residuals: number[] = [];
        const fits: number[] = [];
        a.integers.forEach((one, i) => {
          const run = b.count * (b.integers[i] as bigint) - b.sum;
          const residual = (a.count * one - a.sum) * below - above * run;
          const divisor = a.count * below;
          residuals.push(below === 0n ? none : roundRatio(residual, divisor, a.exponent));
          fits.push(below === 0n ? none : roundRatio(a.sum * below + above * run, divisor, a.exponent));
        });
        expect(apply(exactResiduals, y!, x!)).toEqual(residuals);
        expect(apply(exactFittedValues, y!, x!)).toEqual(fits);
      }),
      runs,
    );
  });

  test("projections and rejections", () => {
    fc.assert(
      fc.property(vectors(2), ([x, y]) => {
        const [a, b] = [exactRow(x!), exactRow(y!)];
        const above = add(a.integers.map((one, i) => one * (b.integers[i] as bigint)));
        const below = add(b.integers.map((one) => one * one));
        const round = (numerator: bigint) => (below === 0n ? none : roundRatio(numerator, below, a.exponent));
        expect(apply(exactProjections, x!, y!)).toEqual(b.integers.map((one) => round(one * above)));
        expect(apply(exactRejections, x!, y!)).toEqual(
          a.integers.map((one, i) => round(one * below - (b.integers[i] as bigint) * above)),
        );
      }),
      runs,
    );
  });
});

describe("known values", () => {
  test("points on a line leave nothing, however steep and far away", () => {
    const x = [1e9, 1e9 + 1, 1e9 + 5, 3];
    const y = x.map((one) => 4 * one - 7);
    expect(of(exactResiduals, y, x)).toEqual([0, 0, 0, 0]);
    expect(of(exactFittedValues, y, x)).toEqual(y);
  });

  test("two points lie on their line exactly", () => {
    expect(of(exactResiduals, [0.1, 0.7], [0.3, 1e-9])).toEqual([0, 0]);
    expect(of(exactFittedValues, [0.1, 0.7], [0.3, 1e-9])).toEqual([0.1, 0.7]);
  });

  test("a constant y has a flat line", () => {
    expect(of(exactResiduals, [0.1, 0.1, 0.1], [1, 2, 4])).toEqual([0, 0, 0]);
    expect(of(exactFittedValues, [0.1, 0.1, 0.1], [1, 2, 4])).toEqual([0.1, 0.1, 0.1]);
  });

  test("no line: one lane, equal x, infinities", () => {
    for (const write of [exactResiduals, exactFittedValues]) {
      expect(of(write, [], [])).toEqual([]);
      expect(of(write, [1], [2])).toEqual([none]);
      expect(of(write, [1, 2, 3], [0.1, 0.1, 0.1])).toEqual([none, none, none]);
      expect(of(write, [1, inf], [1, 2])).toEqual([none, none]);
      expect(of(write, [1, 2], [1, -inf])).toEqual([none, none]);
    }
  });

  test("parts along and across", () => {
    expect(of(exactProjections, [1, 2, 3], [3, 4, 5])).toEqual([1.56, 2.08, 2.6]);
    expect(of(exactRejections, [1, 2, 3], [3, 4, 5])).toEqual([-0.56, -0.08, 0.4]);
    expect(of(exactProjections, [1, 0], [0, 5])).toEqual([0, 0]);
    expect(of(exactRejections, [1, 0], [0, 5])).toEqual([1, 0]);
    expect(of(exactProjections, [0.3, 0.9], [0.1, 0.3])).toEqual([0.30000000000000004, 0.9]);
    expect(of(exactRejections, [0.3, 0.9], [0.1, 0.3])).toEqual([
      -4.163336342344337e-17, 1.387778780781446e-17,
    ]);
    expect(of(exactRejections, [7], [0.1])).toEqual([0]);
  });

  test("nothing lies along zero or infinity", () => {
    for (const write of [exactProjections, exactRejections]) {
      expect(of(write, [], [])).toEqual([]);
      expect(of(write, [1, 2], [0, -0])).toEqual([none, none]);
      expect(of(write, [1, inf], [1, 2])).toEqual([none, none]);
      expect(of(write, [1, 2], [inf, 2])).toEqual([none, none]);
    }
  });
});
