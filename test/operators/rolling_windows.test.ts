import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import type { RollingDefinition, Settings } from "../../src/operator/definition.ts";
import { applyOperator } from "../kernel/small_panel.ts";
import { trials } from "../support/trials.ts";

const { NaN: none, POSITIVE_INFINITY: inf } = Number;

/** What an operator is given for one row: the rows that remain, oldest first, and where they lie in the window. */
interface Kept {
  readonly cells: readonly (readonly number[])[];
  readonly positions: readonly number[];
  readonly last: number;
}

/** The rows of the window of `d` rows at `row` that have a value in every column, by the definition. */
function keptRows(columns: readonly (readonly number[])[], row: number, d: number): Kept {
  const first = Math.max(0, row - d + 1);
  const rows = Array.from({ length: row - first + 1 }, (_, i) => first + i);
  const kept = rows.filter((r) => !columns.some((column) => Number.isNaN(column[r])));
  return {
    cells: columns.map((column) => kept.map((r) => column[r] as number)),
    positions: kept.map((r) => r - first),
    last: row - first,
  };
}

const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const hasToday = ({ positions, last }: Kept) => positions.at(-1) === last;
/** Slope and intercept of `y` on `x`, in plain doubles: the cells are small whole numbers. */
function line(y: readonly number[], x: readonly number[]): { slope: number; intercept: number } {
  const n = x.length;
  const sum = (f: (i: number) => number) => x.reduce((total, _, i) => total + f(i), 0);
  const [sx, sy] = [sum((i) => x[i]!), sum((i) => y[i]!)];
  const spread = n * sum((i) => x[i]! ** 2) - sx ** 2;
  const slope = (n * sum((i) => x[i]! * y[i]!) - sx * sy) / spread;
  return spread === 0 ? { slope: none, intercept: none } : { slope, intercept: (sy - slope * sx) / n };
}

/** The definitions of operators that look at where the values lie, as plainly as they can be written. */
const PLACED: Readonly<Record<string, (kept: Kept) => number>> = {
  ts_argmax: ({ cells: [x], positions }) => positions[x!.indexOf(Math.max(...x!))]! + 1,
  ts_argmin: ({ cells: [x], positions }) => positions[x!.indexOf(Math.min(...x!))]! + 1,
  ts_rank: (kept) => {
    const x = kept.cells[0]!;
    const [less, equal] = [x.filter((v) => v < x.at(-1)!), x.filter((v) => v === x.at(-1))];
    return hasToday(kept) ? (less.length + (equal.length + 1) / 2) / x.length : none;
  },
  ts_slope: ({ cells: [x], positions }) => line(x!, positions).slope,
  ts_intercept: ({ cells: [x], positions }) => line(x!, positions).intercept,
  ts_resid: (kept) => {
    const { slope, intercept } = line(kept.cells[0]!, kept.positions);
    return hasToday(kept) ? kept.cells[0]!.at(-1)! - intercept - slope * kept.last : none;
  },
  ts_rsquare: ({ cells: [x], positions }) => line(x!, positions).slope * line(positions, x!).slope,
  wma_mean: ({ cells: [x], positions, last }) => {
    const weighted = x!.map((value, i) => (value * (positions[i]! + 1)) / (((last + 1) * (last + 2)) / 2));
    return average(weighted);
  },
  ts_av_diff: (kept) => (hasToday(kept) ? kept.cells[0]!.at(-1)! - average(kept.cells[0]!) : none),
  ts_zscore: (kept) => {
    const x = kept.cells[0]!;
    const std = Math.sqrt(x.reduce((sum, v) => sum + (v - average(x)) ** 2, 0) / (x.length - 1));
    return hasToday(kept) && new Set(x).size > 1 ? (x.at(-1)! - average(x)) / std : none;
  },
};
const PLACED_PAIRS: Readonly<Record<string, (kept: Kept) => number>> = {
  ts_regbeta: ({ cells: [y, x] }) => line(y!, x!).slope,
  ts_regalpha: ({ cells: [y, x] }) => line(y!, x!).intercept,
  ts_regresid: (kept) => {
    const [y, x] = kept.cells;
    const { slope, intercept } = line(y!, x!);
    return hasToday(kept) ? y!.at(-1)! - intercept - slope * x!.at(-1)! : none;
  },
};

const cellValue = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: -5, max: 5 }) }, fc.constant(none));
const lane = fc.array(cellValue, { minLength: 14, maxLength: 14 });

function expectDefinition(
  name: string,
  definition: (kept: Kept) => number,
  columns: readonly number[][],
  d: number,
  minPeriods: number | null,
  partCount: number,
): void {
  const rowCount = columns[0]!.length;
  const column = applyOperator({
    operator: builtInRegistry.kernel(name),
    rowCount,
    laneCount: 1,
    operands: columns.map((cells) => Float64Array.from(cells)),
    settings: { d },
    minPeriods,
    partCount,
  });
  for (let row = 0; row < rowCount; row++) {
    const kept = keptRows(columns, row, d);
    const isShort = kept.positions.length < (minPeriods ?? d);
    const expected = isShort ? none : definition(kept);
    if (Number.isNaN(expected)) expect(column[row]).toBeNaN();
    else expect(column[row]).toBeCloseTo(expected, 9);
  }
}

describe.each(Object.entries({ ...PLACED, ...PLACED_PAIRS }))("%s", (name, definition) => {
  test("knows where the values lie, with and without min_periods, for any cut", () => {
    const drawn = fc.record({
      x: lane,
      y: lane,
      d: fc.integer({ min: 1, max: 6 }),
      least: fc.option(fc.integer({ min: 1, max: 6 })),
      partCount: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(drawn, ({ x, y, d, least, partCount }) => {
        const columns = name in PLACED_PAIRS ? [y, x] : [x];
        expectDefinition(name, definition, columns, d, least, partCount);
      }),
      { numRuns: trials(60, 300) },
    );
  });
});

/** The value of one full window. */
function window(name: string, columns: readonly (readonly number[])[], settings: Settings = {}): number {
  const rows = { positions: Float64Array.from(columns[0]!, (_, row) => row), last: columns[0]!.length - 1 };
  const { reference } = builtInRegistry.kernel(name) as RollingDefinition;
  const windows = columns.map((column) => Float64Array.from(column));
  return reference(windows, { d: columns[0]!.length, ...settings }, rows);
}

const value = fc.oneof(
  fc.double({ noNaN: true, min: -1e3, max: 1e3 }),
  fc.integer({ min: -4, max: 4 }),
  fc.integer({ min: 900, max: 1100 }).map((cents) => cents / 100),
);
const values = fc.array(value, { minLength: 4, maxLength: 20 });

describe("laws hold to the last bit", () => {
  const IN_ANY_ORDER: readonly (readonly [string, Settings])[] = [
    ["ts_skew", {}],
    ["ts_kurt", {}],
    ["ts_moment", { k: 5 }],
    ["ts_median", {}],
    ["ts_quantile", { q: 0.3 }],
    ["ts_mad", {}],
    ["ts_ir", {}],
  ];

  test.each(IN_ANY_ORDER)("%s does not look at the order", (name, settings) => {
    fc.assert(
      fc.property(values, (x) => {
        const sorted = [...x].sort((a, b) => a - b);
        expect(window(name, [sorted], settings)).toBe(window(name, [x], settings));
      }),
    );
  });

  test.each(["ts_skew", "ts_kurt", "ts_zscore", "ts_ir", "ts_rsquare"])("%s knows no unit", (name) => {
    fc.assert(
      fc.property(values, (x) => {
        expect(window(name, [x.map((one) => one * 1024)])).toBe(window(name, [x]));
      }),
    );
  });

  test.each([
    "ts_skew",
    "ts_zscore",
    "ts_ir",
    "ts_median",
    "ts_slope",
    "ts_intercept",
    "ts_resid",
    "ts_av_diff",
    "wma_decay",
    "wma_mean",
  ])("%s changes sign with its values", (name) => {
    fc.assert(
      fc.property(values, (x) => {
        // Zero has no sign to change.
        expect(window(name, [x.map((one) => -one)]) + 0).toBe(-window(name, [x]) + 0);
      }),
    );
  });

  test("a regression on the row numbers is one on time", () => {
    fc.assert(
      fc.property(values, (x) => {
        const rows = x.map((_, row) => row);
        expect(window("ts_regbeta", [x, rows])).toBe(window("ts_slope", [x]));
        expect(window("ts_regalpha", [x, rows])).toBe(window("ts_intercept", [x]));
        expect(window("ts_regresid", [x, rows])).toBe(window("ts_resid", [x]));
      }),
    );
  });

  test("a regression on itself leaves nothing, one on more leaves what one on less does", () => {
    fc.assert(
      fc.property(values, (x) => {
        if (new Set(x).size === 1) return;
        expect(window("ts_regbeta", [x, x])).toBe(1);
        expect([window("ts_regalpha", [x, x]), window("ts_regresid", [x, x])]).toEqual([0, 0]);
      }),
    );
    const x = [1, 4, 2, 8, 5, 7];
    // Regressors at right angles to y and to x change nothing.
    expect(window("ts_regresid3", [x, [1, 2, 3, 4, 5, 6], [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]])).toBe(
      window("ts_regresid", [x.slice(2), [3, 4, 5, 6]]),
    );
  });

  test("the second moment is the variance, the median a quantile", () => {
    fc.assert(
      fc.property(values, (x) => {
        const variance = (window("ts_var", [x]) * (x.length - 1)) / x.length;
        expect(window("ts_moment", [x], { k: 2 })).toBeCloseTo(variance, 6);
        expect(window("ts_moment", [x], { k: 1 })).toBe(0);
        expect(window("ts_median", [x])).toBe(window("ts_quantile", [x], { q: 0.5 }));
        expect(window("ts_quantile", [x], { q: 0 })).toBe(window("ts_min", [x]) + 0);
        expect(window("ts_quantile", [x], { q: 1 })).toBe(window("ts_max", [x]) + 0);
      }),
    );
  });
});

describe("edges", () => {
  const SPREADS = ["ts_skew", "ts_kurt", "ts_zscore", "ts_ir", "ts_rsquare"];

  test.each(SPREADS)("%s of equal values is null, and of few values, and of infinities", (name) => {
    expect(window(name, [[0.1, 0.1, 0.1, 0.1, 0.1]])).toBeNaN();
    expect(window(name, [[3]])).toBeNaN();
    expect(window(name, [[1, 2, inf, 4, 5]])).toBeNaN();
    expect(window(name, [[inf, inf, inf, inf]])).toBeNaN();
  });

  test("what else equal values and one value give", () => {
    const names = ["ts_mad", "ts_av_diff", "ts_slope", "ts_resid", "ts_drawdown"];
    expect(names.map((name) => window(name, [[0.1, 0.1, 0.1]]))).toEqual([0, 0, 0, 0, 0]);
    expect(names.map((name) => window(name, [[0.1]]))).toEqual([0, 0, none, none, 0]);
    const means = ["ts_median", "wma_decay", "wma_mean", "ts_intercept"];
    expect(means.map((name) => window(name, [[0.1]]))).toEqual([0.1, 0.1, 0.1, none]);
    expect(window("ts_intercept", [[0.1, 0.1]])).toBe(0.1);
  });

  test("infinities", () => {
    const second = ["ts_mad", "ts_slope", "ts_intercept", "ts_resid", "ts_drawdown"];
    expect(second.map((name) => window(name, [[1, inf, 2]]))).toEqual(second.map(() => none));
    expect(["wma_decay", "wma_mean"].map((name) => window(name, [[1, -inf, 2]]))).toEqual([-inf, -inf]);
    expect(["wma_decay", "wma_mean"].map((name) => window(name, [[inf, -inf, 2]]))).toEqual([none, none]);
    expect(
      window("ts_regresid3", [
        [1, 2, 3, inf, 5],
        [1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
      ]),
    ).toBeNaN();
  });

  test("a value that has left the window leaves no trace", () => {
    const clean = [1, 2, 4, 7, 5, 3];
    for (const spike of [1e15, -1e300, inf, none]) {
      for (const name of ["ts_skew", "ts_kurt", "ts_slope", "ts_zscore", "ts_mad", "wma_decay"]) {
        const column = applyOperator({
          operator: builtInRegistry.kernel(name),
          rowCount: 7,
          laneCount: 1,
          operands: [Float64Array.of(spike, ...clean)],
          settings: { d: 4 },
        });
        expect([...column.subarray(4)]).toEqual([0, 1, 2].map((i) => window(name, [clean.slice(i, i + 4)])));
      }
    }
  });

  test("counts", () => {
    expect(window("ts_count", [[1, 0, 1, 1]])).toBe(3);
    expect(window("ts_count", [[0]])).toBe(0);
  });
});
