import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FactorCells } from "../../../src/data/factors/factor_cells.ts";
import { bitsOf, factorValue, finished, patternsOf, withOddNulls } from "../finished.ts";

/** Rows of one factor; null for one that is not wanted in a row. */
const rows = fc.array(fc.option(fc.array(factorValue, { minLength: 1, maxLength: 70 }), { freq: 5 }), {
  maxLength: 4,
});

describe("FactorCells", () => {
  test("a column has what was gathered row by row, in any order of the cells", () => {
    fc.assert(
      fc.property(
        rows,
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        fc.nat(8),
        (given, keepInfinite, isDense, isFinished, spareLanes) => {
          const cells = new FactorCells(keepInfinite);
          cells.values = new Float64Array(300).fill(7);
          cells.validity = new Uint8Array(38);
          cells.clear();
          const expected: (number | null)[] = [];
          let infinite = 0;
          for (const row of given) {
            const lanes = row ?? [0, 0, 0];
            const order = Int32Array.from(lanes.slice(0, Math.max(1, lanes.length - spareLanes)).keys());
            if (!isDense) order.reverse();
            if (row === null) cells.addNulls(order.length);
            else if (isFinished) cells.gatherFinished(finished(row), order, isDense);
            else cells.gather(withOddNulls(row), order, isDense);
            for (const cell of order) {
              const one = row?.[cell] ?? Number.NaN;
              if (Math.abs(one) === Infinity) infinite++;
              expected.push(Number.isFinite(one) || (keepInfinite && !Number.isNaN(one)) ? one : null);
            }
          }
          const data = cells.data();
          const nulls = expected.filter((one) => one === null).length;
          expect([data.length, data.nullCount, cells.nonFiniteCount]).toEqual([
            expected.length,
            nulls,
            infinite,
          ]);
          expect([...new BigUint64Array(data.values.slice().buffer)]).toEqual(patternsOf(expected));
          if (nulls === 0) expect(data.nullBitmap).toHaveLength(0);
          else {
            const bits = bitsOf(data.nullBitmap);
            const wanted = Array.from(bits, (_, i) => (i < expected.length && expected[i] !== null ? 1 : 0));
            expect(bits).toEqual(wanted);
          }
        },
      ),
    );
  });
});
