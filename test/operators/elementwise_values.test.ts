import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { type ElementwiseDefinition, referenceCell } from "../../src/operator/definition.ts";

const { NaN: none, POSITIVE_INFINITY: inf } = Number;
const anyDouble = fc.oneof(
  fc.double({ noNaN: true }),
  fc.constantFrom(0, -0, 0.5, -0.5, 1.5, 2.5, 2 ** 52, 1e300),
);

/** The value of one cell, null rule included. */
function cell(name: string, ...cells: number[]): number {
  return referenceCell(builtInRegistry.kernel(name) as ElementwiseDefinition, cells);
}

describe("conditions", () => {
  test.each([
    [1, 1, 0],
    [1, 0, 1],
    [0, 0, 0],
    [1, none, none],
    [0, none, none],
    [none, none, none],
  ])("xor of %d and %d is %d", (x, y, expected) => {
    expect([cell("xor", x, y), cell("xor", y, x)]).toEqual([expected, expected]);
  });

  test("tests of a value are never null", () => {
    const names = ["is_null", "is_finite", "is_infinite"];
    const results = [0, -5e-324, inf, -inf, none].map((x) => names.map((name) => cell(name, x)));
    expect(results).toEqual([
      [0, 1, 0],
      [0, 1, 0],
      [0, 0, 1],
      [0, 0, 1],
      [1, 0, 0],
    ]);
  });

  test("is_true counts a null as false, where not keeps it", () => {
    expect([1, 0, none].map((c) => cell("is_true", c))).toEqual([1, 0, 0]);
    expect([1, 0, none].map((c) => cell("not", c))).toEqual([0, 1, none]);
  });
});

describe("nulls made and filled", () => {
  test("coalesce, purify and filter", () => {
    expect([cell("coalesce", 1, 2), cell("coalesce", none, 2), cell("coalesce", 1, none)]).toEqual([1, 2, 1]);
    expect([cell("coalesce", none, none), cell("coalesce", inf, 2)]).toEqual([none, inf]);
    expect([cell("purify", 1), cell("purify", inf), cell("purify", -inf)]).toEqual([1, none, none]);
    expect([cell("filter", 7, 1), cell("filter", 7, 0), cell("filter", 7, none)]).toEqual([7, none, none]);
    expect(cell("filter", none, 1)).toBeNaN();
  });
});

describe("rounding", () => {
  test("round goes to the nearest whole number, from half-way to the even one", () => {
    fc.assert(
      fc.property(anyDouble, (x) => {
        const rounded = cell("round", x);
        expect(Number.isInteger(rounded)).toBe(Number.isFinite(x));
        const distance = x === rounded ? 0 : Math.abs(x - rounded); // exact: the two are close
        expect(distance).toBeLessThanOrEqual(0.5);
        if (distance === 0.5) expect(rounded % 2).toBeCloseTo(0, 0);
      }),
    );
    expect([0.5, 1.5, 2.5, -0.5, -1.5].map((x) => cell("round", x))).toEqual([0, 2, 2, -0, -2]);
    expect(cell("round", 0.49999999999999994)).toBe(0);
    expect(cell("round", 4503599627370495.5)).toBe(4503599627370496);
    expect(cell("round", -4503599627370497)).toBe(-4503599627370497);
  });

  test("floor and ceil enclose", () => {
    fc.assert(
      fc.property(anyDouble, (x) => {
        expect(cell("floor", x)).toBeLessThanOrEqual(x);
        expect(cell("ceil", x)).toBeGreaterThanOrEqual(x);
        expect(cell("ceil", x)).toBe(-cell("floor", -x));
      }),
    );
  });

  test("clip", () => {
    expect([-5, 0, 5].map((x) => cell("clip", x, -1, 2))).toEqual([-1, 0, 2]);
    expect([-5, 0, 5].map((x) => cell("clip", x, 2, -1))).toEqual([-1, -1, -1]);
    expect([cell("clip", inf, -inf, inf), cell("clip", none, 0, 1), cell("clip", 0, none, 1)]).toEqual([
      inf,
      none,
      none,
    ]);
  });
});

describe("functions", () => {
  test("s_log_1p and tanh are odd and keep order", () => {
    fc.assert(
      fc.property(anyDouble, anyDouble, (x, y) => {
        for (const name of ["s_log_1p", "tanh"]) {
          expect(cell(name, -x)).toBe(-cell(name, x));
          if (x < y) expect(cell(name, x)).toBeLessThanOrEqual(cell(name, y));
        }
      }),
    );
    expect(cell("s_log_1p", 0)).toBe(0);
  });

  test("edges of the domains", () => {
    expect([cell("log1p", -1), cell("log1p", -1.5), cell("log1p", 0)]).toEqual([-inf, none, 0]);
    expect([cell("inverse", 0), cell("inverse", -0), cell("inverse", inf)]).toEqual([inf, -inf, 0]);
    expect([cell("tanh", inf), cell("tanh", -inf)]).toEqual([1, -1]);
  });
});
