import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import type { RecursiveDefinition, Settings } from "../../src/operator/definition.ts";

const { NaN: none, POSITIVE_INFINITY: inf } = Number;

/** The results of one lane. */
function lane(name: string, settings: Settings, ...columns: number[][]): number[] {
  const { initialState, reference } = builtInRegistry.kernel(name) as RecursiveDefinition;
  const state = Float64Array.from(initialState(settings));
  return columns[0]!.map((_, row) => {
    const cells = columns.map((column) => column[row]!);
    return reference(cells, settings, state);
  });
}

const cell = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 3 }) },
  { weight: 2, arbitrary: fc.double({ noNaN: true, min: -100, max: 100 }) },
  { weight: 2, arbitrary: fc.constant(none) },
);
const history = fc.array(cell, { maxLength: 30 });
const window = fc.integer({ min: 1, max: 8 });

/** The values of the rows `row - d + 1 .. row`, the latest first. */
const latestValues = (x: readonly number[], row: number, d: number) =>
  x
    .slice(Math.max(0, row - d + 1), row + 1)
    .reverse()
    .filter((value) => !Number.isNaN(value));

function closeTo(actual: readonly number[], expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  actual.forEach((value, row) => {
    if (Number.isNaN(expected[row])) expect(value).toBeNaN();
    else expect(Math.abs(value - expected[row]!)).toBeLessThanOrEqual(1e-9 * (1 + Math.abs(expected[row]!)));
  });
}

const recursive = builtInRegistry.operators.filter((operator) => operator.axis === "recursive");

describe("what a lane carries", () => {
  const awkward = fc.oneof(cell, fc.constantFrom(-0, inf, -inf, 1e308));
  const cells = fc.tuple(awkward, awkward, awkward);

  test.each(
    recursive.map((operator) => [operator.name, operator] as const),
  )("%s goes on from a copy of its state", (_, { initialState, reference }) => {
    const rows = fc.array(cells, { maxLength: 25 });
    fc.assert(
      fc.property(rows, rows, window, window, (before, after, n, k) => {
        const settings = { n, d: n, k, m: 1 };
        const state = Float64Array.from(initialState(settings));
        for (const row of before) reference(row, settings, state);
        const copy = new Float64Array(new Uint8Array(state.slice().buffer).slice().buffer);
        const results = after.map((row) => reference(row, settings, state));
        // Another lane in between, as a driver may run them.
        for (const row of before) reference(row, settings, Float64Array.from(initialState(settings)));
        expect(after.map((row) => reference([...row], { ...settings }, copy))).toEqual(results);
        expect(copy).toEqual(state);
      }),
    );
  });

  test("k sets the size of what is recalled, not d, and nothing is carried where no window holds k values", () => {
    for (const name of ["kth_element", "ts_backfill"]) {
      const { initialState } = builtInRegistry.kernel(name) as RecursiveDefinition;
      const size = (d: number, k: number) => initialState({ d, k }).length;
      expect([size(500, 1), size(500, 3), size(3, 3), size(2, 3)]).toEqual([2, 6, 6, 0]);
    }
  });
});

describe("averages", () => {
  test("ema is the mean that its weights say", () => {
    fc.assert(
      fc.property(history, window, (x, n) => {
        const a = 2 / (n + 1);
        const expected = x.map((_, row) => {
          const values = latestValues(x, row, row + 1);
          // The k-th latest value weighs a * (1 - a)^k, the first of all what is left.
          const weights = values.map((__, k) => (k < values.length - 1 ? a : 1) * (1 - a) ** k);
          return values.length ? values.reduce((sum, value, k) => sum + value * weights[k]!, 0) : none;
        });
        closeTo(lane("ema", { n }, x), expected);
      }),
    );
  });

  test("ema_adjusted weighs by rows, nulls included", () => {
    fc.assert(
      fc.property(history, window, (x, n) => {
        const decay = 1 - 2 / (n + 1);
        const expected = x.map((_, row) => {
          const terms = x
            .slice(0, row + 1)
            .map((value, t) => ({ value, weight: n === 1 ? 0 : decay ** (row - t) }))
            .filter(({ value }) => !Number.isNaN(value));
          if (n === 1) return terms.at(-1)?.value ?? none;
          const total = terms.reduce((sum, { weight }) => sum + weight, 0);
          return terms.length ? terms.reduce((sum, term) => sum + term.value * term.weight, 0) / total : none;
        });
        closeTo(lane("ema_adjusted", { n }, x), expected);
      }),
    );
  });

  test("sma_cn is an ema with a = m / n", () => {
    fc.assert(
      fc.property(history, window, (x, n) => {
        closeTo(lane("sma_cn", { n: n + 1, m: 2 }, x), lane("ema", { n }, x));
      }),
    );
    expect(lane("sma_cn", { n: 3, m: 1 }, [1, 2])).toEqual([1, (1 * 2 + 2 * 1) / 3]);
    expect(lane("sma_cn", { n: 1, m: 1 }, [4, none, 6])).toEqual([4, 4, 6]);
    for (const m of [0, -1, 4]) expect(lane("sma_cn", { n: 3, m }, [1, 2])).toEqual([none, none]);
  });

  test("a constant stays what it is", () => {
    for (const [name, settings] of [
      ["ema", { n: 6 }],
      ["ema_adjusted", { n: 6 }],
    ] as const) {
      expect(lane(name, settings, new Array(50).fill(0.1))).toEqual(new Array(50).fill(0.1));
    }
  });

  test("ema_adjusted keeps the sign of the zero that was there", () => {
    expect(lane("ema_adjusted", { n: 3 }, [-0, 0, none])).toEqual([-0, -0, -0]);
    expect(lane("ema_adjusted", { n: 1 }, [-0, 0, none])).toEqual([-0, 0, 0]);
  });

  test("what has become infinite or undefined stays so", () => {
    expect(lane("ema", { n: 3 }, [1, inf, 2, none])).toEqual([1, inf, none, none]);
    expect(lane("ema_adjusted", { n: 3 }, [1, inf, 2, none])).toEqual([1, inf, inf, inf]);
    expect(lane("sma_cn", { n: 3, m: 1 }, [1, inf, 2, -inf, 3])).toEqual([1, inf, inf, none, none]);
    expect(lane("cum_sum", {}, [inf, -inf, 3])).toEqual([inf, none, none]);
    expect(lane("cum_product", {}, [inf, 0, 3])).toEqual([inf, none, none]);
  });
});

describe("cumulative results", () => {
  test("are rounded at every step", () => {
    expect(lane("cum_sum", {}, [1e16, 1, -1e16])).toEqual([1e16, 1e16, 0]);
    expect(lane("cum_product", {}, [1e200, 1e200, 1e-200])).toEqual([1e200, inf, inf]);
  });

  test("signs of zero", () => {
    expect(lane("cum_max", {}, [-0, 0])).toEqual([-0, 0]);
    expect(lane("cum_min", {}, [0, -0])).toEqual([0, -0]);
    expect(lane("cum_sum", {}, [-0, -0])).toEqual([-0, -0]);
  });

  test("no row, no value", () => {
    for (const name of ["cum_sum", "cum_product", "cum_max", "cum_min", "ffill", "first_value"]) {
      expect(lane(name, {}, [])).toEqual([]);
      expect(lane(name, {}, [none, none])).toEqual([none, none]);
    }
    expect(lane("cum_count", {}, [none, none])).toEqual([0, 0]);
  });
});

describe("looking back", () => {
  test("kth_element and ts_backfill find the k-th latest value of the window", () => {
    fc.assert(
      fc.property(history, window, fc.integer({ min: 1, max: 4 }), (x, d, k) => {
        const recalled = x.map((_, row) => latestValues(x, row, d)[k - 1] ?? none);
        expect(lane("kth_element", { d, k }, x)).toEqual(recalled);
        const filled = x.map((value, row) => (Number.isNaN(value) ? recalled[row] : value));
        expect(lane("ts_backfill", { d, k }, x)).toEqual(filled);
      }),
    );
    expect(lane("kth_element", { d: 9, k: 60_000 }, [1, 2])).toEqual([none, none]);
  });

  test("ts_backfill over all rows is ffill", () => {
    fc.assert(
      fc.property(history, (x) => {
        expect(lane("ts_backfill", { d: 30, k: 1 }, x)).toEqual(lane("ffill", {}, x));
      }),
    );
  });

  test("last_diff_value finds the latest other value of the window", () => {
    fc.assert(
      fc.property(history, window, (x, d) => {
        const expected = x.map((value, row) =>
          Number.isNaN(value) ? none : (latestValues(x, row, d).find((other) => other !== value) ?? none),
        );
        expect(lane("last_diff_value", { d }, x)).toEqual(expected);
      }),
    );
    expect(lane("last_diff_value", { d: 2 }, [-0, 0, -1])).toEqual([none, none, 0]);
  });

  test("days_from_last_change counts rows since the value became what it is", () => {
    fc.assert(
      fc.property(history, (x) => {
        const filled = lane("ffill", {}, x);
        const expected = filled.map((value, row) => {
          let start = row;
          while (start > 0 && filled[start - 1] === value) start--;
          return Number.isNaN(value) ? none : row - start;
        });
        expect(lane("days_from_last_change", {}, x)).toEqual(expected);
      }),
    );
    expect(lane("days_from_last_change", {}, [0, -0, inf, inf])).toEqual([0, 1, 0, 1]);
  });
});

describe("held positions", () => {
  test.each([
    // trigger, exit, result after 5 was held and 7 is offered
    [1, 0, 7],
    [0.5, 0, 7],
    [0, 0, 5],
    [-1, -1, 5],
    [none, none, 5],
    [1, none, 7],
    [none, 1, none],
    [1, 1, none],
    [0, 0.1, none],
  ])("trade_when with trigger %d and exit %d gives %d", (trigger, exit, result) => {
    expect(lane("trade_when", {}, [1, trigger], [5, 7], [0, exit])[1]).toBe(result);
  });

  test("trade_when holds nothing at first, and nothing after an exit until the next trigger", () => {
    expect(lane("trade_when", {}, [0, 1, 0, 0, 1], [1, 2, 3, 4, none], [0, 0, 1, 0, 0])).toEqual([
      none,
      2,
      none,
      none,
      none,
    ]);
  });

  test("limit_change moves by the limit or not at all", () => {
    // The documented example of hump: from 5 towards 2 under a limit of 1.5.
    expect(lane("limit_change", {}, [5, 2], [1.5, 1.5])).toEqual([5, 3.5]);
    expect(lane("limit_change", {}, [5, 6, 7], [2, 2, 2])).toEqual([5, 5, 7]);
    expect(lane("limit_change", {}, [5, 5], [0, 0])).toEqual([5, 5]);
    expect(lane("limit_change", {}, [5, 9], [0, 0])).toEqual([5, 5]);
    expect(lane("limit_change", {}, [none, 5, 1], [1, none, 1])).toEqual([none, none, 1]);
  });
});

describe("recurrences", () => {
  test("affine_recurrence starts from 1 and carries over what is undefined", () => {
    expect(lane("affine_recurrence", {}, [none, 0, 0.5], [3, none, 1], [1, 1, 1])).toEqual([1, 1, 1.5]);
    expect(lane("affine_recurrence", {}, [inf, 0, 1], [0, 0, -inf], [1, 1, 1])).toEqual([inf, inf, inf]);
    expect(lane("affine_recurrence", {}, [inf, 0, none, 1], [0, 5, 2, none], [1, 0, 1, 1])).toEqual([
      inf,
      5,
      5,
      5,
    ]);
    expect(lane("affine_recurrence", {}, [1, 1, 1], [0.1, 0.2, 0.3], [1, 1, 1])).toEqual([1.1, 1.3, 1.6]);
  });

  test("a sum of each day is null until a day is seen to begin", () => {
    const sums = (q: number[], isSameDay: number[]) =>
      lane(
        "affine_recurrence",
        {},
        q.map(() => 1),
        q,
        isSameDay,
      );
    expect(sums([10, 10.67, 11, 3, 4], [none, 1, 1, 0, 1])).toEqual([none, none, none, 3, 7]);
    // A day that no one saw begin must not go on from the day before.
    expect(sums([1, 2, none, 3, 4, 5], [0, 1, none, none, 1, 0])).toEqual([1, 3, none, none, none, 5]);
    expect(sums([1, 2, none, 3, 5], [0, 1, 0, 1, 0])).toEqual([1, 3, none, none, 5]);
  });

  test("affine_recurrence follows from the rows since it last started again", () => {
    const again = fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, fc.constantFrom(0, -0, 2, none));
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell, again), { maxLength: 30 }), (rows) => {
        const expected = rows.map((_, row) => {
          const seen = rows.slice(0, row + 1);
          const from = seen.findLastIndex(([, , c]) => c === 0 || Number.isNaN(c));
          const first = from < 0 ? 1 : seen[from]![2] === 0 ? seen[from]![1] : none;
          return seen.slice(from + 1).reduce((y, [p, q]) => {
            const next = p * y + q;
            return Number.isNaN(next) ? y : next;
          }, first);
        });
        const columns = [0, 1, 2].map((i) => rows.map((row) => row[i]!));
        if (rows.length > 0) expect(lane("affine_recurrence", {}, ...columns)).toEqual(expected);
      }),
    );
  });

  test("ts_step counts rows whatever they hold", () => {
    expect(lane("ts_step", {}, [none, 5, inf])).toEqual([1, 2, 3]);
  });
});
