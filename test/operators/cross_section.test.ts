import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import type { CrossSectionDefinition, Settings } from "../../src/operator/definition.ts";

const { NaN: none, POSITIVE_INFINITY: inf } = Number;

/** The values of one row; settings that are left out have their defaults. */
function row(name: string, settings: Settings, ...columns: number[][]): number[] {
  const operator = builtInRegistry.kernel(name) as CrossSectionDefinition;
  const defaults = operator.parameters.flatMap(({ name: key, default: value }) =>
    value === undefined ? [] : [[key, value] as const],
  );
  const output = new Float64Array(columns[0]!.length).fill(none);
  const cells = columns.map((column) => Float64Array.from(column));
  operator.reference(cells, { ...Object.fromEntries(defaults), ...settings }, output);
  return [...output];
}

const finite = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.double({ noNaN: true, min: -1e6, max: 1e6 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const rows = (count: number) =>
  fc
    .integer({ min: 1, max: 12 })
    .chain((length) =>
      fc.tuple(
        ...Array.from({ length: count }, () => fc.array(finite, { minLength: length, maxLength: length })),
      ),
    );

/** Operators of the room with settings that bite. */
const CASES: readonly (readonly [string, Settings])[] = [
  ["rank", {}],
  ["scale", {}],
  ["normalize", {}],
  ["zscore", {}],
  ["normalize", { use_std: 1, limit: 1 }],
  ["winsorize", { std: 1 }],
  ["cs_mad", { n: 1 }],
  ["cs_quantile", { low: 0.2, high: 0.7 }],
  ["truncate", { max_percent: 0.2 }],
  ["scale_down", { constant: 0.5 }],
  ["quantile", {}],
  ["cs_sum", {}],
  ["regression_neut", {}],
  ["regression_proj", {}],
  ["vector_neut", {}],
  ["vector_proj", {}],
];

describe.each(CASES)("%s", (name, settings) => {
  const columnCount = builtInRegistry.kernel(name).parameters.filter(({ kind }) => kind === "series").length;

  test("gives the lanes in another order the same values", () => {
    fc.assert(
      fc.property(rows(columnCount), (columns) => {
        const reversed = columns.map((column) => column.toReversed());
        expect(row(name, settings, ...reversed).toReversed()).toEqual(row(name, settings, ...columns));
      }),
    );
  });

  test("leaves its arguments alone", () => {
    const { reference } = builtInRegistry.kernel(name) as CrossSectionDefinition;
    const columns = Array.from({ length: columnCount }, (_, k) => Float64Array.of(3, 1, 2, 5 + k, -4));
    const before = columns.map((column) => [...column]);
    reference(columns, { a: 1, sigma: 1, driver: 0, k: 1.4826, ...settings }, new Float64Array(5));
    expect(columns.map((column) => [...column])).toEqual(before);
  });

  test("one lane and equal lanes", () => {
    const expected: Record<string, readonly [number, number]> = {
      rank: [1, 0.75],
      scale: [1, 0.5],
      winsorize: [none, 7],
      cs_mad: [7, 7],
      cs_quantile: [7, 7],
      truncate: [0.2 * 7, 0.2 * 14],
      quantile: [none, 0],
      cs_sum: [7, 14],
      vector_neut: [0, 0],
      vector_proj: [7, 7],
    };
    const deviations = [0, 0] as const;
    const isDeviation = name === "normalize" && settings["use_std"] === undefined;
    const [one, two] = isDeviation ? deviations : (expected[name] ?? [none, none]);
    const columns = (length: number) => Array.from({ length: columnCount }, () => new Array(length).fill(7));
    expect(row(name, settings, ...columns(1))).toEqual([one]);
    expect(row(name, settings, ...columns(2))).toEqual([two, two]);
  });
});

describe("standardizing", () => {
  test("scores do not change with the unit", () => {
    fc.assert(
      fc.property(rows(1), ([x]) => {
        const scaled = x!.map((value) => value / 2 ** 40);
        fc.pre(scaled.every((value, i) => value * 2 ** 40 === x![i]));
        expect(row("zscore", {}, scaled)).toEqual(row("zscore", {}, x!));
        expect(row("scale_down", {}, scaled)).toEqual(row("scale_down", {}, x!));
      }),
    );
  });

  test("normalize is zscore if it is wanted, and either may be cut", () => {
    fc.assert(
      fc.property(rows(1), ([x]) => {
        const cut = (values: number[]) => values.map((value) => Math.max(-1.5, Math.min(1.5, value)));
        expect(row("normalize", { use_std: 1 }, x!)).toEqual(row("zscore", {}, x!));
        expect(row("normalize", { limit: 1.5 }, x!)).toEqual(cut(row("normalize", {}, x!)));
        expect(row("normalize", { use_std: 1, limit: -1.5 }, x!)).toEqual(cut(row("zscore", {}, x!)));
      }),
    );
  });

  test("infinities leave a row without scores, but not without ranks", () => {
    const x = [1, inf, 3];
    expect(row("zscore", {}, x)).toEqual([none, none, none]);
    expect(row("normalize", { use_std: 1 }, x)).toEqual([none, none, none]);
    expect(row("normalize", { limit: 2 }, x)).toEqual([-2, none, -2]);
    expect(row("scale_down", {}, x)).toEqual([none, none, none]);
    expect(row("rank", {}, x)).toEqual([1 / 3, 1, 2 / 3]);
  });
});

describe("cutting", () => {
  test("winsorize leaves what lies within and gives the bounds to the rest", () => {
    expect(row("winsorize", { std: 0 }, [1, 2, 6])).toEqual([3, 3, 3]);
    expect(row("winsorize", { std: 1 }, [-1, 1])).toEqual([-1, 1]);
    expect(row("winsorize", { std: 0.5 }, [-1, 1])).toEqual([-Math.SQRT1_2, Math.SQRT1_2]);
    expect(row("winsorize", { std: -1 }, [1, 2])).toEqual([none, none]);
    expect(row("winsorize", {}, [1, inf, 2])).toEqual([none, none, none]);
  });

  test("cs_mad is not impressed by one outlier", () => {
    expect(row("cs_mad", { n: 2, k: 1 }, [1, 2, 3, 4, 1e300])).toEqual([1, 2, 3, 4, 5]);
    expect(row("cs_mad", {}, [5, 5, 5, 9])).toEqual([5, 5, 5, 5]);
    expect(row("cs_mad", { n: -1 }, [1, 2])).toEqual([none, none]);
    expect(row("cs_mad", { n: 0 }, [1, 2, 9])).toEqual([2, 2, 2]);
  });

  test("cs_quantile keeps infinities on their side", () => {
    expect(row("cs_quantile", { low: 0, high: 1 }, [-inf, 2, inf])).toEqual([-inf, 2, inf]);
    expect(row("cs_quantile", { low: 0.5, high: 0.5 }, [-inf, 2, inf])).toEqual([2, 2, 2]);
    expect(row("cs_quantile", { low: -0.1, high: 0.5 }, [1, 2])).toEqual([none, none]);
  });

  test("truncate cuts both signs alike", () => {
    expect(row("truncate", { max_percent: 0.25 }, [6, -6, 1, -3])).toEqual([4, -4, 1, -3]);
    expect(row("truncate", { max_percent: 0 }, [6, -6])).toEqual([0, -0]);
    expect(row("truncate", { max_percent: 1 }, [0.1, 0.2])).toEqual([0.1, 0.2]);
    expect(row("truncate", {}, [1, inf, -inf])).toEqual([1, inf, -inf]);
    expect(row("truncate", { max_percent: -1 }, [1])).toEqual([none]);
  });
});

describe("quantile", () => {
  test("the documented shift: ranks between 1/n and 1 - 1/n", () => {
    const shifted = row("quantile", { driver: 1 }, [0.2, 0.5, -0.1, 0.8, 0.3]).map((value) => value + 0.5);
    expect(shifted).toEqual([0.35, 0.65, 0.2, 0.8, 0.5]);
  });

  test("is symmetric and keeps the order of the values", () => {
    fc.assert(
      fc.property(rows(1), ([x]) => {
        fc.pre(x!.length > 2);
        const quantiles = row("quantile", {}, x!);
        const mirrored = row(
          "quantile",
          {},
          x!.map((value) => -value),
        );
        expect(mirrored.map((value) => value + 0)).toEqual(quantiles.map((value) => 0 - value));
        for (const [i, a] of x!.entries()) {
          for (const [j, b] of x!.entries()) {
            if (a < b) expect(quantiles[i]!).toBeLessThan(quantiles[j]!);
            if (a === b) expect(quantiles[i]).toBe(quantiles[j]);
          }
        }
      }),
    );
  });

  test("sigma scales; two lanes are in the middle; other drivers do not exist", () => {
    const x = [4, 8, 5];
    expect(row("quantile", { sigma: 4 }, x)).toEqual(row("quantile", {}, x).map((value) => 4 * value));
    expect(row("quantile", {}, [1, 2])).toEqual([0, 0]);
    expect(row("quantile", { driver: 2 }, x)).toEqual([none, none, none]);
  });
});

describe("neutralizing", () => {
  /** The sums of two vectors, which are `whole` if there is any. */
  function expectParts(a: number[], b: number[], whole: number[], exist: boolean): void {
    for (const [i, one] of whole.entries()) {
      if (exist) expect(a[i]! + b[i]!).toBeCloseTo(one, 12);
      else expect([a[i], b[i]]).toEqual([none, none]);
    }
  }

  test("residual and fitted value make y; both parts make x", () => {
    const digit = fc.integer({ min: -9, max: 9 });
    const pairs = fc.array(fc.tuple(digit, digit), { minLength: 2, maxLength: 9 });
    fc.assert(
      fc.property(pairs, (drawn) => {
        const [a, b] = [drawn.map(([one]) => one), drawn.map(([, two]) => two)];
        const parts = (names: readonly string[]) => names.map((name) => row(name, {}, a, b));
        const [rest, line] = parts(["regression_neut", "regression_proj"]);
        expectParts(rest!, line!, a, new Set(b).size > 1);
        const [across, along] = parts(["vector_neut", "vector_proj"]);
        expectParts(
          across!,
          along!,
          a,
          b.some((two) => two !== 0),
        );
      }),
    );
  });

  test("the documented example of vector_neut", () => {
    expect(row("vector_neut", {}, [1, 2, 3], [3, 4, 5])).toEqual([-0.56, -0.08, 0.4]);
  });
});
