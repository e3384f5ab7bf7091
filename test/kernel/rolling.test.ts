import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyOperator, testOperator } from "./small_panel.ts";

const parameters = [
  { name: "x", kind: "series" as const },
  { name: "y", kind: "series" as const },
  { name: "d", kind: "window" as const },
];
/** A value that depends on the order, the length and every cell of the windows. */
const fingerprint = (windows: readonly Float64Array[]): number =>
  windows.reduce((sum, window, k) => {
    const cells = [...window].map((cell, i) => (Number.isNaN(cell) ? 0.25 : cell) * (i + 1 + 100 * k));
    return sum + cells.reduce((total, cell) => total + cell, 0) + window.length * 1000;
  }, 0);
const operatorOf = (seesNulls: boolean) =>
  testOperator({
    name: "fingerprint",
    axis: "rolling",
    seesNulls,
    parameters,
    windowRows: ({ d }) => d!,
    nullWhere: {},
    reference: (windows) => {
      const value = fingerprint(windows);
      for (const window of windows) window.sort(); // a reference may use its windows as scratch
      return value;
    },
  });

const cell = fc.oneof({ weight: 4, arbitrary: fc.integer({ min: -9, max: 9 }) }, fc.constant(NaN));
const cases = fc
  .record({ rowCount: fc.integer({ min: 0, max: 12 }), laneCount: fc.constantFrom(1, 2, 3, 4, 9) })
  .chain(({ rowCount, laneCount }) =>
    fc.record({
      rowCount: fc.constant(rowCount),
      laneCount: fc.constant(laneCount),
      x: fc.array(cell, { minLength: rowCount * laneCount, maxLength: rowCount * laneCount }),
      y: fc.oneof(cell, fc.array(cell, { minLength: rowCount * laneCount, maxLength: rowCount * laneCount })),
      d: fc.integer({ min: 1, max: 6 }),
      minPeriods: fc.option(fc.integer({ min: 1, max: 6 })),
      seesNulls: fc.boolean(),
      cut: fc.record({
        partCount: fc.integer({ min: 1, max: 5 }),
        blockRows: fc.integer({ min: 1, max: 12 }),
        repeats: fc.integer({ min: 1, max: 2 }),
      }),
    }),
  );
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

/** The definition, word for word. */
function expectedCell(
  { x, y, d, minPeriods, seesNulls, laneCount }: Case,
  row: number,
  lane: number,
): number {
  const rows = Array.from({ length: d }, (_, k) => row - d + 1 + k).filter((r) => r >= 0);
  const pairs = rows.map((r) => {
    const index = r * laneCount + lane;
    return [x[index]!, typeof y === "number" ? y : y[index]!];
  });
  const valid = pairs.filter((pair) => !pair.some(Number.isNaN));
  const window = minPeriods === null && seesNulls ? pairs : valid;
  if (minPeriods !== null ? window.length < minPeriods : window.length < d) return NaN;
  return fingerprint([0, 1].map((k) => Float64Array.from(window, (pair) => pair[k]!)));
}

describe("rolling operators", () => {
  test("see the windows that the definition says, for any cut", () => {
    fc.assert(
      fc.property(cases, (drawn) => {
        const { rowCount, laneCount, x, y, d, minPeriods, seesNulls, cut } = drawn;
        const column = applyOperator({
          operator: operatorOf(seesNulls),
          rowCount,
          laneCount,
          operands: [Float64Array.from(x), typeof y === "number" ? y : Float64Array.from(y)],
          settings: { d },
          minPeriods,
          ...cut,
        });
        const expected = x.map((_, i) => expectedCell(drawn, Math.floor(i / laneCount), i % laneCount));
        expect([...column]).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  test("windows longer than a block and longer than the panel", () => {
    const operands = [Float64Array.from({ length: 100 }, (_, i) => i), 1];
    const run = (d: number) =>
      applyOperator({
        operator: operatorOf(false),
        rowCount: 100,
        laneCount: 1,
        operands,
        settings: { d },
        blockRows: 16,
      });
    const last = fingerprint([
      Float64Array.from({ length: 70 }, (_, i) => 30 + i),
      new Float64Array(70).fill(1),
    ]);
    expect(run(70)[99]).toBe(last);
    expect(run(70)[68]).toBeNaN();
    expect(run(101).every(Number.isNaN)).toBe(true);
  });
});
