import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UNTOUCHED } from "./run_plan.ts";
import { applyOperator, groupOf, testOperator } from "./small_panel.ts";

const x = { name: "x", kind: "series" as const };
const y = { name: "y", kind: "series" as const };
/** Numbers the lanes that it sees and adds their values, so that wrong lanes, order or arguments show. */
const reference = (columns: readonly Float64Array[], _: unknown, output: Float64Array) => {
  for (let i = 0; i < output.length; i++) {
    output[i] = output.length * 1e6 + i * 1e3 + columns[0]![i]! * 10 + columns[1]![i]!;
  }
};
const crossSection = testOperator({
  name: "number_lanes",
  axis: "cross_section",
  parameters: [x, y],
  nullWhere: {},
  reference,
});
const grouped = testOperator({
  name: "number_group",
  axis: "group",
  parameters: [x, y, { name: "g", kind: "group" }],
  nullWhere: {},
  reference,
});

const cell = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 9 }) }, fc.constant(NaN));
const cases = fc
  .record({ rowCount: fc.integer({ min: 0, max: 5 }), laneCount: fc.integer({ min: 1, max: 7 }) })
  .chain(({ rowCount, laneCount }) => {
    const exactly = (length: number) => ({ minLength: length, maxLength: length });
    return fc.record({
      rowCount: fc.constant(rowCount),
      laneCount: fc.constant(laneCount),
      x: fc.array(cell, exactly(rowCount * laneCount)),
      y: fc.oneof(cell, fc.array(cell, exactly(rowCount * laneCount))),
      codes: fc.array(fc.integer({ min: -1, max: 3 }), exactly(rowCount * laneCount)),
      changesOverTime: fc.boolean(),
      cut: fc.record({
        partCount: fc.integer({ min: 1, max: 4 }),
        blockRows: fc.integer({ min: 1, max: 5 }),
        repeats: fc.integer({ min: 1, max: 2 }),
      }),
    });
  });
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

/** The definition, word for word; without codes the row is one group. */
function expectedRow({ x, y, laneCount }: Case, row: number, codeOf: (lane: number) => number): number[] {
  const output = new Array<number>(laneCount).fill(NaN);
  const at = (values: number | readonly number[], lane: number) =>
    typeof values === "number" ? values : values[row * laneCount + lane]!;
  const lanes = output
    .map((_, lane) => lane)
    .filter((lane) => !Number.isNaN(at(x, lane)) && !Number.isNaN(at(y, lane)) && codeOf(lane) >= 0);
  for (const code of new Set(lanes.map(codeOf))) {
    const members = lanes.filter((lane) => codeOf(lane) === code);
    members.forEach((lane, i) => {
      output[lane] = members.length * 1e6 + i * 1e3 + at(x, lane) * 10 + at(y, lane);
    });
  }
  return output;
}

const applicationOf = ({ rowCount, laneCount, x, y, cut }: Case) => ({
  rowCount,
  laneCount,
  ...cut,
  operands: [Float64Array.from(x), typeof y === "number" ? y : Float64Array.from(y)],
});
const rowsOf = (drawn: Case, codeOf: (row: number, lane: number) => number) =>
  Array.from({ length: drawn.rowCount }, (_, row) =>
    expectedRow(drawn, row, (lane) => codeOf(row, lane)),
  ).flat();

describe("row operators", () => {
  test("a cross-section sees the lanes with a value in every argument", () => {
    fc.assert(
      fc.property(cases, (drawn) => {
        const column = applyOperator({ operator: crossSection, ...applicationOf(drawn) });
        expect([...column]).toEqual(rowsOf(drawn, () => 0));
      }),
    );
  });

  test("a group operator does the same within each group", () => {
    fc.assert(
      fc.property(cases, (drawn) => {
        const { laneCount, changesOverTime } = drawn;
        const codes = changesOverTime
          ? drawn.codes
          : [...drawn.codes, 0, 1, 2, 0, -1, 1, 2].slice(0, laneCount);
        const group = groupOf(codes, changesOverTime);
        const column = applyOperator({ operator: grouped, ...applicationOf(drawn), group });
        const codeOf = (row: number, lane: number) => codes[changesOverTime ? row * laneCount + lane : lane]!;
        expect([...column]).toEqual(rowsOf(drawn, codeOf));
      }),
    );
  });

  test("a part writes its own rows only", () => {
    const operands = [Float64Array.from({ length: 12 }, (_, i) => i), 1];
    const panel = { operator: crossSection, rowCount: 4, laneCount: 3, operands };
    const column = applyOperator({ ...panel, partCount: 2, parts: [1] });
    expect([...column.subarray(0, 6)]).toEqual(new Array(6).fill(UNTOUCHED));
    expect([...column.subarray(6)]).toEqual([...applyOperator(panel).subarray(6)]);
  });

  test("a lane that the reference leaves out is null, not a value of the row before", () => {
    const firstOnly = testOperator({
      name: "first_only",
      axis: "cross_section",
      parameters: [x],
      nullWhere: {},
      reference: ([cells], _, output) => {
        if (cells![0] === 1) output.fill(5);
        else output[0] = 7;
      },
    });
    const operands = [Float64Array.of(1, 1, 2, 2)];
    const column = applyOperator({ operator: firstOnly, rowCount: 2, laneCount: 2, operands });
    expect([...column]).toEqual([5, 5, 7, NaN]);
  });
});
