import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UNTOUCHED } from "./run_plan.ts";
import { applyOperator, testOperator } from "./small_panel.ts";

/** Distinguishes rows, arguments and settings, and sees nulls. */
const operator = testOperator({
  name: "trail",
  axis: "recursive",
  parameters: [
    { name: "x", kind: "series" },
    { name: "y", kind: "series" },
    { name: "start", kind: "constant" },
  ],
  initialState: ({ start }) => [start!, 0],
  nullWhere: {},
  reference: ([x, y], _settings, state) => {
    state[0] = 2 * state[0]! + (Number.isNaN(x) ? 0.25 : x!) + 100 * y!;
    state[1]! += 1;
    return state[1] === 4 ? Number.NaN : state[0];
  },
});

/** The definition, word for word. */
function expectedCell(
  x: Float64Array,
  y: Float64Array | number,
  start: number,
  laneCount: number,
  cell: number,
): number {
  const rows = Math.floor(cell / laneCount) + 1;
  if (rows === 4) return Number.NaN;
  let value = start;
  for (let row = 0; row < rows; row++) {
    const at = row * laneCount + (cell % laneCount);
    const addend = typeof y === "number" ? y : y[at]!;
    value = 2 * value + (Number.isNaN(x[at]) ? 0.25 : x[at]!) + 100 * addend;
  }
  return value;
}

const cell = fc.oneof({ weight: 4, arbitrary: fc.integer({ min: -9, max: 9 }) }, fc.constant(NaN));

describe("recursive operators", () => {
  test("see each lane row by row from its first, for any cut into blocks and lanes", () => {
    const sizes = fc.record({
      rows: fc.integer({ min: 0, max: 8 }),
      laneCount: fc.constantFrom(1, 2, 3, 5, 8, 9, 17),
    });
    const cases = sizes.chain(({ rows, laneCount }) => {
      const column = fc.array(cell, { minLength: rows * laneCount, maxLength: rows * laneCount });
      return fc.record({
        rows: fc.constant(rows),
        laneCount: fc.constant(laneCount),
        x: column,
        y: fc.oneof(fc.integer({ min: 0, max: 3 }), column),
        start: fc.integer({ min: -2, max: 2 }),
        partCount: fc.integer({ min: 1, max: 3 }),
        blockRows: fc.integer({ min: 1, max: 8 }),
        repeats: fc.integer({ min: 1, max: 2 }),
      });
    });
    fc.assert(
      fc.property(cases, ({ rows, laneCount, x, y, start, ...cut }) => {
        const operands = [Float64Array.from(x), typeof y === "number" ? y : Float64Array.from(y)] as const;
        const column = applyOperator({
          operator,
          rowCount: rows,
          laneCount,
          operands,
          settings: { start },
          ...cut,
        });
        expect([...column]).toEqual(x.map((_, i) => expectedCell(...operands, start, laneCount, i)));
      }),
    );
  });

  test("touch no cell of another part", () => {
    const laneCount = 17;
    const operands = [Float64Array.from({ length: 2 * laneCount }, (_, i) => i), 0];
    const panel = { operator, rowCount: 2, laneCount, operands, settings: { start: 0 } };
    const whole = applyOperator(panel);
    const part = applyOperator({ ...panel, partCount: 3, parts: [1] });
    part.forEach((value, i) => {
      expect(value).toBe(i % laneCount >= 8 && i % laneCount < 16 ? whole[i] : UNTOUCHED);
    });
  });
});
